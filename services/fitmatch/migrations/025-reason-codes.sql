-- Why a verification was rejected, for apps; beside it is the reason in the words of the operator.
-- Safe: verifications.verifications_reason_code_check, the previous version leaves the new column null.
alter table verifications add column reason_code text
  check (reason_code in ('FACE_NOT_VISIBLE', 'DIFFERENT_PERSON', 'PHOTO_OF_A_PHOTO', 'SEVERAL_PEOPLE', 'OTHER'));
