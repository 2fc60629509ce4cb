import { createTexts, loadBrand, readBrand } from './index.ts'
import { type Feature, type Features, type Limits, withoutOrphans } from './product.ts'

interface Teardown {
  teardown(work: () => unknown): unknown
}

/** Makes a folder the brand of this process until the test ends: another file may have read the built-in one before. */
export function useBrand (t: Teardown, folder: string) {
  const current = readBrand()
  const before = { ...current }
  const brand = loadBrand(folder)
  Object.assign(current, { brand, texts: createTexts(brand) })
  t.teardown(() => {
    Object.assign(current, before)
  })
}

/** Turns features off until the test ends, as a brand does. Apps that start meanwhile do not have them. */
export function turnOff (t: Teardown, ...features: Feature[]) {
  const off: Partial<Features> = Object.fromEntries(features.map((feature) => [feature, false]))
  const { brand } = readBrand()
  const before = brand.features
  brand.features = withoutOrphans({ ...before, ...off })
  t.teardown(() => {
    brand.features = before
  })
}

/** Changes limits of the product until the test ends, as a brand does. */
export function setLimits (t: Teardown, limits: Partial<Limits>) {
  const { brand } = readBrand()
  const before = brand.limits
  brand.limits = { ...before, ...limits }
  t.teardown(() => {
    brand.limits = before
  })
}
