-- Names as searches compare them now: these letters fold too, and apostrophes separate no words.
update people set search_name =
  translate(replace(replace(replace(replace(
    case when name ~ '[''’‘ʼʻ`´＇]'
      then trim(regexp_replace(lower(regexp_replace(name, '[''’‘ʼʻ`´＇]', '', 'g')), '[[:space:][:punct:]]+', ' ', 'g'))
      else search_name
    end, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'łøđðħıŧŋĸ', 'lodhitnq')
where search_name ~ '[ßæœþłøđðħıŧŋĸ]' or name ~ '[''’‘ʼʻ`´＇]';
