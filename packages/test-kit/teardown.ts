/** The part of a tap test that is needed for cleanup. */
export interface Teardown {
  teardown(work: () => unknown): unknown
}
