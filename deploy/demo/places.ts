import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { urlOfSchema, type Stack } from '@tandem/rehearsals/kit/stack.ts'
import type { Member } from './member.ts'
import type { Random } from './random.ts'

const FILE = path.join(import.meta.dirname, 'places.geojsonl')
const COMMAND = path.resolve(import.meta.dirname, '../../services/fitmatch/places/cli.ts')
const NEAREST_GYMS = 6

/** Imports two hundred made-up gyms of Berlin, by the command of operators. */
export async function importPlaces (stack: Stack) {
  await promisify(execFile)(process.execPath, [COMMAND, 'import', FILE], {
    env: { ...process.env, DATABASE_URL: urlOfSchema(stack, 'fitmatch') }
  })
}

/** Adds a gym near home to the FitMatch profile. The main people train at the same one. */
export async function chooseGym (
  { send }: Member,
  { home, isMain, random }: { home: { latitude: number, longitude: number }, isMain: boolean, random: Random }
) {
  const { data: { venues } } = await send<{ data: { venues: { placeId: string, name: string }[] } }>(
    'GET',
    `/venues/search?latitude=${home.latitude}&longitude=${home.longitude}`
  )
  const gym = isMain ? venues[0] : random.pick(venues.slice(0, NEAREST_GYMS))
  if (!gym) throw new Error('There are no gyms in Berlin')
  await send('POST', '/fitmatch/profile/venues', { placeId: gym.placeId, name: gym.name })
}
