-- What the subscription of an account unlocks while it lasts. Events of earlier versions did not say it: they unlocked both.
alter table members add column entitlements text[] not null default '{unlimited_swipes,see_likes}';
