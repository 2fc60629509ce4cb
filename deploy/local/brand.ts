// `npm run brand -- check [folder]`: what is missing or wrong in a brand.
import { checkBrand, loadBrand, loadExerciseNames } from '@tandem/brand-kit'
import { screen } from '@tandem/local-servers/screen.ts'
import { ConfigError } from '@tandem/process-kit'
import { libraryIds } from '../../services/dashboard/exercises/library.ts'

const [command, folder = process.env['BRAND_DIR'], ...others] = process.argv.slice(2)
if (command !== 'check' || others.length > 0) {
  screen.error('usage: npm run brand -- check [folder]')
  process.exit(1)
}

const faults = listFaults()
for (const fault of faults) screen.error(fault)
if (faults.length > 0) process.exit(1)
screen.done('The brand is complete.')

function listFaults () {
  try {
    const brand = loadBrand(folder)
    loadExerciseNames(libraryIds, folder)
    return checkBrand(brand)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
}
