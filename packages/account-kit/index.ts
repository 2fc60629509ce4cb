export { createDepartures, insertTombstone, isDeparted, type DepartureOptions, type Departures } from './departures.ts'
export { countPersonalData } from './erase.ts'
export { hide, isHidden, isNotHidden } from './hidden.ts'
export {
  databaseTables,
  inColumns,
  either,
  kitTables,
  mailTables,
  notPersonal,
  personal,
  type NotPersonal,
  type Personal,
  type PersonalData
} from './personal-data.ts'
export type { DepartureTables } from './tables.ts'
