import { databaseTables, inColumns, kitTables, notPersonal, personal, type PersonalData } from '@tandem/account-kit'
import { operatorTables } from '@tandem/operator-kit'
import { sql } from 'kysely'
import { erasePerson, forgetReservations } from './erasure/actions.ts'
import type { Tables } from './tables.ts'

const publicData = 'It holds public data about places.'

/** What this service holds of people, in the order in which it is erased. */
export const personalData: PersonalData<Tables> = {
  uploads: personal({
    rowsOf: inColumns('account_id'),
    files: sql`array[key]`,
    exported: ['key', 'created_at']
  }),
  people: personal({
    rowsOf: inColumns('account_id'),
    erase: erasePerson,
    exported: [
      'name',
      'username',
      'image',
      'bio',
      'gender',
      'birth_date',
      'height',
      'height_unit',
      'weight',
      'weighed_at',
      'entered_weight',
      'entered_at',
      'weight_unit',
      'fitness_goal',
      'experience',
      'photos',
      'community_rules_accepted',
      'country_id',
      'region_id',
      'city_id',
      'locale',
      'timezone',
      'motivations',
      'favorite_sports',
      'activity_style',
      'preferred_availability',
      'preferred_workout_time',
      'workout_frequency',
      'location_enabled',
      'push_notifications',
      'latitude',
      'longitude',
      'completed_at',
      'created_at',
      'updated_at'
    ]
  }),
  // Erasing a person keeps their usernames without them, for up to 90 days, so that no stranger inherits mentions.
  reserved_usernames: personal({
    rowsOf: inColumns('account_id'),
    erase: forgetReservations,
    exported: ['username', 'until']
  }),
  options: notPersonal('It holds the option lists.'),
  option_changes: notPersonal('It logs what operators changed in the option lists.'),
  countries: notPersonal(publicData),
  regions: notPersonal(publicData),
  cities: notPersonal(publicData),
  places_editions: notPersonal(publicData),
  places_loads: notPersonal(publicData),
  ...databaseTables,
  ...operatorTables,
  ...kitTables
}
