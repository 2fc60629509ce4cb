-- Whose contact a person is who blocks them, is banned or leaves.
create index trusted_contacts_of_address on trusted_contacts (email);
