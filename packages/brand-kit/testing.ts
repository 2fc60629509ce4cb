import { readBrand } from './index.ts'
import { type Feature, type Features, type Limits, withoutOrphans } from './product.ts'

interface Teardown {
  teardown(work: () => unknown): unknown
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
