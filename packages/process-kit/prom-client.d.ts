declare module 'prom-client/lib/metrics/*' {
  import type { Registry } from 'prom-client'

  /** Registers the metrics of one file. Without a registry, in the global one. */
  const collect: (registry: Registry | undefined, config: object) => void
  export default collect
}
