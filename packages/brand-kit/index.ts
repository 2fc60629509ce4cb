import { createLogger, readVariable } from '@tandem/process-kit'
import { type Brand, loadBrand } from './brand.ts'
import { loadExerciseNames } from './exercise-names.ts'
import type { Feature } from './product.ts'
import { createTexts, type Texts } from './texts.ts'

export { checkBrand } from './check.ts'
export { loadBrand, OPTION_LISTS } from './brand.ts'
export type { Brand, OptionList, TextKey } from './brand.ts'
export { loadExerciseNames, type ExerciseNames } from './exercise-names.ts'
export { escapeHtml } from './html.ts'
export { readLocale } from './locales.ts'
export type { Feature } from './product.ts'
export { listSamples } from './samples.ts'
export { createTexts } from './texts.ts'
export type { LocalTexts, TextGroup, TextParams, Texts } from './texts.ts'

let read: { brand: Brand, texts: Texts } | undefined

/** The brand of this process, as it was when first read, and its texts. @throws ConfigError */
export function readBrand () {
  if (read) return read
  const brand = loadBrand(readVariable('BRAND_DIR'))
  read = {
    brand,
    texts: createTexts(brand, (missing) => createLogger('brand', 'warn').warn(missing, 'a text is missing'))
  }
  return read
}

/** The texts of this process for a person's locale; see `Texts.of`. */
export const textsOf = (locale: string | null | undefined) => readBrand().texts.of(locale)

/** Whether this installation has a feature. What belongs to none is always on. */
export const isFeatureOn = (feature: Feature | undefined) =>
  feature === undefined || readBrand().brand.features[feature]

/** The limits of this installation's product. */
export const readLimits = () => readBrand().brand.limits

/** How exercises are named in other languages in this process's brand. @param ids of all exercises @throws ConfigError */
export const readExerciseNames = (ids: readonly string[]) => loadExerciseNames(ids, readVariable('BRAND_DIR'))
