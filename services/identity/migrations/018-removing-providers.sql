-- The removal of a provider needs a proof.
-- Safe: codes.codes_purpose_check, which only allows more than before
alter table codes drop constraint codes_purpose_check,
  add constraint codes_purpose_check
    check (purpose in ('VERIFY', 'SIGN_IN', 'DELETE', 'EXPORT', 'CHANGE_EMAIL', 'NEW_EMAIL', 'REMOVE_PROVIDER'));
-- Safe: proofs.proofs_purpose_check, which only allows more than before
alter table proofs drop constraint proofs_purpose_check,
  add constraint proofs_purpose_check check (purpose in ('DELETE', 'EXPORT', 'CHANGE_EMAIL', 'REMOVE_PROVIDER'));

-- A transaction can wait for the lock of the account while its address changes. What it links then is younger than the
-- change, and is removed when the change is taken back.
alter table provider_links alter column created_at set default clock_timestamp();
