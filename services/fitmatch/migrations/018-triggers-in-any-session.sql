-- The triggers find their tables also where the search path of the session is another one, as an administrator's.
alter function hide_profile () set search_path from current;
alter function hide_new_profile () set search_path from current;
