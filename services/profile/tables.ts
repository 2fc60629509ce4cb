import type { ColumnType, Generated, JSONColumnType, Kysely, Transaction } from 'kysely'
import type { OptionList } from '@tandem/brand-kit'
import type { ErasureTables } from '@tandem/account-kit'
import type { OperatorTables } from '@tandem/operator-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { DailyQuotaTables, IdempotencyTables } from '@tandem/database-kit'

export interface Tables
  extends
    OutboxTables,
    ProcessedEventTables,
    FailedMessageTables,
    IdempotencyTables,
    DailyQuotaTables,
    ErasureTables,
    OperatorTables
{
  people: {
    account_id: string,
    name: string,
    username: string,
    /** A media key, or the URL of an external image; so are photos. */
    image: string | null,
    bio: string | null,
    gender: Gender | null,
    /** A calendar day, `2026-01-31`. */
    birth_date: string | null,
    height: number | null,
    height_unit: Generated<'cm' | 'feet'>,
    weight: number | null,
    weighed_at: Date | null,
    entered_weight: number | null,
    entered_at: Date | null,
    weight_sequence: Generated<number>,
    weight_unit: Generated<'kg' | 'pound'>,
    fitness_goal: string | null,
    experience: Generated<string>,
    photos: Generated<string[]>,
    published_media_base: string | null,
    community_rules_accepted: Generated<boolean>,
    country_id: number | null,
    region_id: number | null,
    city_id: number | null,
    locale: string,
    timezone: Generated<string>,
    timezone_chosen: Generated<boolean>,
    motivations: Generated<string[]>,
    favorite_sports: Generated<string[]>,
    activity_style: Generated<string[]>,
    preferred_availability: Generated<string[]>,
    preferred_workout_time: Generated<string[]>,
    workout_frequency: number | null,
    location_enabled: boolean | null,
    push_notifications: boolean | null,
    latitude: number | null,
    longitude: number | null,
    current_step: Generated<number>,
    current_sub_step: Generated<number>,
    completed_at: Date | null,
    created_at: Generated<Date>,
    updated_at: Generated<Date>
  }
  options: {
    type: OptionList,
    option_id: string,
    labels: ColumnType<Record<string, string>, string | undefined, string>,
    is_listed: Generated<boolean>,
    icon: string,
    category: string | null,
    sort_order: number,
    is_active: Generated<boolean>,
    updated_at: Generated<Date>
  }
  option_changes: {
    id: Generated<string>,
    admin_id: string,
    type: OptionList,
    option_id: string,
    action: 'CREATE' | 'UPDATE' | 'DEACTIVATE',
    before: JSONColumnType<object> | null,
    after: JSONColumnType<object> | null,
    changed_at: Generated<Date>
  }
  countries: { id: number, code: string, name: string, flag: string, currency: string | null, default_timezone: string }
  regions: {
    id: number,
    country_id: number,
    code: string | null,
    name: string,
    name_local: string | null,
    timezone: string
  }
  cities: {
    id: number,
    country_id: number,
    region_id: number | null,
    name: string,
    name_local: string | null,
    timezone: string,
    population: number,
    latitude: number,
    longitude: number
  }
  uploads: {
    key: string,
    account_id: string,
    /** Null: it was uploaded before the sizes were stored. */
    width: number | null,
    height: number | null,
    blurhash: string | null,
    unused_since: Generated<Date | null>,
    delete_requested_at: Date | null,
    created_at: Generated<Date>
  }
  reserved_usernames: { username: string, until: Date, account_id: string | null }
  places_editions: { edition: string, loaded_at: Generated<Date> }
  places_loads: { edition: string, lines: Generated<number>, percent: Generated<number> }
}

export type Gender = 'MALE' | 'FEMALE' | 'OTHER'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
