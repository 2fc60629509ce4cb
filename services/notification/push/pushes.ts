/** A delivery that a worker is to be told of. */
export interface Waiting { id: string, dueAt: Date, low: boolean }

/** The way of deliveries to the devices. */
export interface Pushes {
  /** Has deliveries sent that were committed. Never throws: what Redis does not take is found again in Postgres. */
  offer (deliveries: Waiting[]): Promise<void>
  start (): void
  close (): Promise<void>
  /** @throws when Redis does not answer */
  ready (): Promise<void>
  /** How many pushes of low priority Redis holds. @throws when Redis does not answer */
  lowDepth (): Promise<number>
}
