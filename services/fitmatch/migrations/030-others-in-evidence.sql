-- Activities that are gone, because their host is erased: what the host wrote goes here too.
update case_evidence set
  content = jsonb_set(content, '{activity}', (content -> 'activity') - '{title,note,locationName,venue}'::text[])
where content ? 'activity' and content #>> '{activity,hostedBy}' is distinct from 'REPORTED' and not exists (
  select from reports join activities on activities.id = activity_id
  where reports.case_id = case_evidence.case_id and reports.activity = content -> 'activity');
update reports set activity = activity - '{title,note,locationName,venue}'::text[]
where activity ->> 'hostedBy' is null and activity_id not in (select id from activities);

-- Who hosts the activities of earlier reports, if that is neither of the two, and whose words their evidence has.
update case_evidence set content = jsonb_set(content, '{activity,hostId}', to_jsonb(host_id))
from reports join activities on activities.id = activity_id
where reports.case_id = case_evidence.case_id and reports.activity = content -> 'activity'
  and host_id not in (reporter_id, reported_id);
update reports set activity = jsonb_set(activity, '{hostId}', to_jsonb(host_id)) from activities
where activities.id = activity_id and host_id not in (reporter_id, reported_id);
update case_evidence set others = array(
  select (message ->> 'senderId')::uuid from jsonb_array_elements(content -> 'messages') as message
  union select (content -> 'activity' ->> 'hostId')::uuid where content -> 'activity' ->> 'hostId' is not null
  union select reporter_id from reports
  where case_id = cases.id and activity = content -> 'activity' and activity ->> 'hostedBy' = 'REPORTER'
  except select account_id
) from cases where cases.id = case_id;
-- People who are erased already are erased from it, too.
update departures set next_pass_at = now() where account_id in (select unnest(others) from case_evidence);
create index reports_by_host on reports ((activity ->> 'hostId')) where activity ->> 'hostId' is not null;
