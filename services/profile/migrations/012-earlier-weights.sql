-- A weight that came from a log has the time of the log, in whole milliseconds; one that was entered has microseconds.
update people set entered_weight = weight, entered_at = coalesce(weighed_at, completed_at, created_at)
where weight is not null and entered_at is null
  and (weighed_at is null or weighed_at <> date_trunc('milliseconds', weighed_at));
