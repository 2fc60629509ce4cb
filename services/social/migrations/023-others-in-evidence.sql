-- Whose post the evidence of earlier reports has. Who wrote the comments around was not stored, so those go.
update case_evidence set
  content = content || '{"around": {"parent": null, "before": []}}',
  others = array_remove(array[(content #>> '{post,authorId}')::uuid], account_id)
from cases where cases.id = case_id and target_type = 'COMMENT';
-- People who are erased already are erased from it, too.
update departures set next_pass_at = now() where account_id in (select unnest(others) from case_evidence);
