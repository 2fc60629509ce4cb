import t from 'tap'
import { validateName, findNameError } from './names.ts'
import { generateName, generateUsername } from './generated-names.ts'

t.test('nobody can impersonate the service', async (t) => {
  const names = [
    'admin',
    'Admin',
    'ADMIN',
    'a.d.m.i.n',
    '_admin_',
    'admin1',
    'admin_2024',
    'adm1n',
    'ädmin',
    'аdmin',
    'adrnin',
    'Administrator',
    'support',
    'Tandem',
    'tandem.support',
    'tandem_official',
    'TandemSupport',
    'The Tandem Team',
    't4ndem',
    'ТАNDЕМ',
    'Tandem ✓',
    'official',
    'offlcial',
    'ｓｕｐｐｏｒｔ',
    'Tandem Fitness',
    'Moderator',
    'no-reply',
    '0fficial',
    'tandem support 24',
    'root',
    'sүstem'.replace('ү', 'у')
  ]
  for (const name of names) t.equal(findNameError(name), 'reservedName', name)
})

t.test('a name has no invisible characters and none that change the text direction', async (t) => {
  for (
    const sign of [
      '\u202E',
      '\u202A',
      '\u2066',
      '\u2069',
      '\u200E',
      '\u200F',
      '\u061C',
      '\u200B',
      '\u2060',
      '\uFEFF',
      '\u00AD',
      '\u115F',
      '\u3164',
      '\u2800',
      '\u0007',
      '\u000A',
      '\u2028',
      '\u{E0041}',
      '\uE000',
      '\u200D',
      '\u200C',
      '\uFE0F'
    ]
  ) {
    for (const name of [`Ana${sign}Putri`, `${sign}Ana`, `Ana${sign}`]) {
      t.equal(findNameError(name), 'invisibleCharacters', `U+${sign.codePointAt(0)?.toString(16)}`)
    }
  }
})

t.test('names of real people are accepted', async (t) => {
  const names = [
    'Ana Putri',
    'Joe Root',
    'Tandem Rider',
    'Ana Support',
    'Budi',
    'Staffan',
    'Modesta',
    'Modric',
    'Robot',
    'Abbott',
    'Helpie',
    'Rooter',
    'Teamo',
    "Ólafur-Örn O'Neil",
    '山田 太郎',
    'Мария',
    'محمد',
    'می\u200Cخواهم',
    'ශ්\u200Dරී',
    'Zoë 👩\u200D👩\u200D👧',
    'Ana ❤\uFE0F',
    'Ana 🏃🏽\u200D♀\uFE0F',
    'ana.putri',
    'user4821',
    'x',
    '...',
    'Ida',
    'Theo',
    'Admina Kovač',
    'Systema'
  ]
  for (const name of names) t.equal(findNameError(name), undefined, name)
})

t.test('a current name stays valid after it becomes reserved', async (t) => {
  t.throws(() => validateName('username', 'admin', 'ana'), {
    code: 'VALIDATION_ERROR',
    textKey: 'VALIDATION_ERROR.reservedName',
    params: { field: 'username' }
  })
  t.doesNotThrow(() => validateName('username', 'admin', 'admin'))
  t.doesNotThrow(() => validateName('name', undefined))
})

t.test('generated names and usernames are valid and short enough', async (t) => {
  for (let times = 0; times < 2_000; times++) {
    const [name, username] = [generateName(), generateUsername(times % 2 ? 4 : 8)]
    if (
      findNameError(name) || findNameError(username) || !/^[A-Z][a-z]+ [A-Z][a-z]+$/.test(name) ||
      !/^[a-z]{6,}\d{4,8}$/.test(username) || username.length > 30
    ) t.fail(`${name} ${username}`)
  }
})
