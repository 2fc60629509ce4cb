-- Sets without weight, and with assistance (negative), count too.
alter table lifts drop constraint lifts_weight_kg_check;

-- "Bench-Press" is "Bench Press".
update lifts set exercise_key = regexp_replace(exercise_key, '[\s_-]+', ' ', 'g')
where exercise_key ~ '[_-]' and not exists (
  select from lifts other
  where other.log_id = lifts.log_id and other.exercise_key = regexp_replace(lifts.exercise_key, '[\s_-]+', ' ', 'g'));
