import { createRandom, type Random } from './random.ts'
import { sceneLayers, type Scene } from './scenes.ts'

// An illustrated portrait: flat shapes in 600 by 600, from back to front.

export type Look = 'FEMALE' | 'MALE' | 'OTHER'

const skins = ['#f7d7c4', '#f0c3a3', '#e3a983', '#c98a5f', '#a96f47', '#7d4d2f', '#5c3822']
const hairs = ['#1f1a1a', '#2e211c', '#4a2f22', '#6b4226', '#8d5a2b', '#b98445', '#d9b26a', '#a3452a', '#8b8b8f']
const backdrops = [
  ['#ffd6a5', '#ff9f80'],
  ['#bde0fe', '#7fb2f0'],
  ['#caffbf', '#7fd1a3'],
  ['#e5d4ff', '#b79cf0'],
  ['#ffe5ec', '#f7a6bd'],
  ['#d8f3dc', '#74c69d'],
  ['#fff1b8', '#ffc857'],
  ['#c7f0f4', '#5fb8c4']
] as const
const clothes = ['#264653', '#2a9d8f', '#e76f51', '#3d5a80', '#ef476f', '#6d597a', '#f4a261', '#1d3557', '#43aa8b']

/** The portrait of the person with this seed. @param scene where they are; without one the background is plain */
export function drawFace (seed: string, look: Look, scene?: Scene): string {
  const random = createRandom(`face ${seed}`)
  const tone = random.integer(0, skins.length - 1)
  const skin = skins[tone] ?? ''
  const shade = darken(skin, 0.84)
  const hair = random.chance(0.92) ? random.pick(hairs.slice(0, tone > 3 ? 4 : 8)) : '#8b8b8f'
  const cloth = random.pick(clothes)
  const [light, deep] = random.pick(backdrops)
  const isLong = look === 'FEMALE' || look === 'OTHER' && random.chance(0.5)
  const style = random.pick(isLong ? longStyles : shortStyles)
  const hasBeard = look === 'MALE' && random.chance(0.45)
  const glasses = random.chance(0.22)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600" viewBox="0 0 600 600">
<defs><linearGradient id="backdrop" x1="0" y1="0" x2="1" y2="1"><stop stop-color="${light}"/>
<stop offset="1" stop-color="${deep}"/></linearGradient></defs>
${
    scene
      ? `<g transform="scale(.6)">${sceneLayers(seed, scene)}</g>`
      : `<rect width="600" height="600" fill="url(#backdrop)"/><circle cx="300" cy="310" r="235" fill="#fff" opacity=".28"/>`
  }
${style.back(hair)}
${body(cloth, skin, shade, random)}
<ellipse cx="192" cy="290" rx="20" ry="27" fill="${shade}"/><ellipse cx="408" cy="290" rx="20" ry="27" fill="${shade}"/>
<path d="M196 245c0-80 40-125 104-125s104 45 104 125c0 105-44 172-104 172s-104-67-104-172z" fill="${skin}"/>
${hasBeard ? beard(hair, random) : ''}
${features(random, { hair, skin, shade, isDark: tone > 3, glasses, smilesWide: random.chance(0.6), lashes: isLong })}
${style.front(hair)}
${accessory(random, cloth, isLong)}
</svg>`
}

function body (cloth: string, skin: string, shade: string, random: Random) {
  const trim = darken(cloth, 0.8)
  const neck = `<path d="M252 370h96v78c0 30-96 30-96 0z" fill="${shade}"/>`
  const torso = `<path d="M70 620c0-120 80-172 160-184h140c80 12 160 64 160 184z" fill="${cloth}"/>`
  const necklines = [
    `<path d="M240 432c10 46 110 46 120 0l-14-8c-20 22-72 22-92 0z" fill="${trim}"/>`,
    `<path d="M236 434l64 78 64-78-18-8-46 46-46-46z" fill="${trim}"/><path d="M252 426l48 50 48-50z" fill="${skin}"/>`,
    `<path d="M205 440c20 80 170 80 190 0l-38-14c-16 36-98 36-114 0z" fill="${skin}"/><path d="M150 600l20-130M450 600l-20-130" stroke="${trim}" stroke-width="10"/>`,
    `<path d="M214 438c-8 50 40 84 86 92 46-8 94-42 86-92l-34-12c-10 40-94 40-104 0z" fill="${trim}"/><path d="M270 512v56M330 512v56" stroke="#fff" stroke-width="7" stroke-linecap="round"/>`
  ]
  return torso + neck + random.pick(necklines)
}

interface Features {
  hair: string
  skin: string
  shade: string
  isDark: boolean
  glasses: boolean
  smilesWide: boolean
  lashes: boolean
}

function features (random: Random, { hair, skin, shade, isDark, glasses, smilesWide, lashes }: Features) {
  const iris = random.pick(['#2b1d16', '#4a3222', '#33523f', '#2f4b6b'].slice(0, isDark ? 2 : 4))
  const brow = darken(hair === '#d9b26a' ? '#b98445' : hair, 0.85)
  const tilt = random.integer(-4, 5)
  const eye = (x: number) =>
    `<ellipse cx="${x}" cy="272" rx="17" ry="14" fill="#fff"/><circle cx="${x}" cy="273" r="11" fill="${iris}"/>
<circle cx="${x + 4}" cy="269" r="3.5" fill="#fff"/><path d="M${
      x - 19
    } 268q19-17 38 0" stroke="#2b1d16" stroke-width="${lashes ? 6 : 4}" fill="none" stroke-linecap="round"/>`
  const brows = `<path d="M${230} ${240 + tilt}q24-16 46-4M${324} ${236}q22-12 46 ${
    4 + tilt
  }" stroke="${brow}" stroke-width="8" fill="none" stroke-linecap="round"/>`
  const nose = `<path d="M300 282c-3 22-15 34-12 42 4 8 20 8 26 2" stroke="${
    darken(skin, 0.74)
  }" stroke-width="5" fill="none" stroke-linecap="round"/>`
  const cheeks =
    `<ellipse cx="232" cy="322" rx="24" ry="15" fill="#ff6b6b" opacity=".2"/><ellipse cx="368" cy="322" rx="24" ry="15" fill="#ff6b6b" opacity=".2"/>`
  const mouth = smilesWide
    ? `<path d="M256 346q44 16 88 0c-4 34-24 46-44 46s-40-12-44-46z" fill="#8c2f39"/><path d="M262 350q38 12 76 0l-3 13q-35 9-70 0z" fill="#fff"/>`
    : `<path d="M262 352q38 32 76 0" stroke="${
      lashes ? '#b23a48' : darken(shade, 0.66)
    }" stroke-width="8" fill="none" stroke-linecap="round"/>`
  const frame = glasses
    ? `<g fill="#fff" fill-opacity=".16" stroke="#22252b" stroke-width="6"><circle cx="253" cy="274" r="35"/><circle cx="347" cy="274" r="35"/><path d="M288 270q12-9 24 0M218 268l-22-8M382 268l22-8" fill="none"/></g>`
    : ''
  return cheeks + brows + eye(253) + eye(347) + nose + mouth + frame
}

function beard (hair: string, random: Random) {
  const full =
    `<path d="M198 282c4 92 44 142 102 142s98-50 102-142c-12 34-26 50-46 52-24-12-88-12-112 0-20-2-34-18-46-52z" fill="${hair}"/>`
  const trimmed =
    `<path d="M200 298c8 78 46 122 100 122s92-44 100-122c-12 50-40 84-100 84s-88-34-100-84z" fill="${hair}" opacity=".78"/>`
  return random.chance(0.5) ? full : trimmed
}

interface Hairstyle {
  back: (colour: string) => string
  front: (colour: string) => string
}

const fringe = (colour: string) =>
  `<path d="M190 262c-14-96 36-156 112-156s124 58 108 156c-8-44-28-72-54-86-40 30-112 34-140 32-14 14-22 32-26 54z" fill="${colour}"/>`
const parted = (colour: string) =>
  `<path d="M188 272c-18-108 40-168 114-168s130 60 110 168c-6-52-40-86-96-112-34 44-100 54-128 112z" fill="${colour}"/>`

const longStyles: Hairstyle[] = [
  {
    back: (colour) =>
      `<path d="M178 250c0-110 54-160 122-160s122 50 122 160c0 90 26 150 46 214H132c20-64 46-124 46-214z" fill="${colour}"/>`,
    front: parted
  },
  {
    back: (colour) =>
      `<path d="M176 250c-2-100 50-156 124-156s126 56 124 156c0 60 4 96 10 124H166c6-28 10-64 10-124z" fill="${colour}"/>`,
    front: fringe
  },
  {
    back: (colour) =>
      `<circle cx="300" cy="92" r="56" fill="${colour}"/><circle cx="300" cy="230" r="122" fill="${colour}"/>`,
    front: parted
  },
  {
    back: (colour) =>
      `<path d="M372 130c110 0 110 130 84 220-10 36 12 60-10 84-40-30-46-100-40-164z" fill="${colour}"/><circle cx="300" cy="226" r="120" fill="${colour}"/>`,
    front: fringe
  },
  {
    back: (colour) =>
      [[176, 200], [196, 140], [248, 100], [306, 88], [362, 104], [408, 146], [426, 204], [172, 262], [430, 264], [
        184,
        326
      ], [418, 328]]
        .map(([x, y]) => `<circle cx="${x}" cy="${y}" r="54" fill="${colour}"/>`).join(''),
    front: (colour) =>
      `<path d="M196 232c4-70 44-112 104-112s100 42 104 112c-28-48-60-66-104-66s-76 18-104 66z" fill="${colour}"/>`
  }
]

const shortStyles: Hairstyle[] = [
  { back: () => '', front: fringe },
  {
    back: () => '',
    front: (colour) =>
      `<path d="M192 258c-16-86 24-140 66-146 60-34 150-4 154 60 4 28 0 58-6 84-8-34-18-54-30-68-50 8-110 0-142-22-22 18-36 48-42 92z" fill="${colour}"/>`
  },
  {
    back: () => '',
    front: (colour) =>
      `<path d="M194 246c-4-82 40-130 106-130s110 48 106 130c-8-30-16-48-26-60-48-18-112-18-160 0-10 12-18 30-26 60z" fill="${colour}" opacity=".92"/>`
  },
  {
    back: () => '',
    front: (colour) =>
      [[206, 186], [232, 148], [270, 124], [312, 118], [352, 130], [384, 162], [398, 198]]
        .map(([x, y]) => `<circle cx="${x}" cy="${y}" r="36" fill="${colour}"/>`).join('')
  },
  {
    back: (colour) => `<circle cx="300" cy="88" r="38" fill="${colour}"/>`,
    front: (colour) =>
      `<path d="M194 250c-6-90 40-142 106-142s112 52 106 142c-10-46-44-84-106-84s-96 38-106 84z" fill="${colour}"/>`
  }
]

function accessory (random: Random, cloth: string, isLong: boolean) {
  const headband = `<path d="M190 214q110-62 220 0l2-30q-112-62-224 0z" fill="${cloth}"/>`
  const cap =
    `<path d="M186 208c0-84 50-122 114-122s114 38 114 122c-70-24-158-24-228 0z" fill="${cloth}"/><path d="M186 208c70-26 158-26 228 0 40 4 72 16 84 34-90-28-220-34-312-34z" fill="${
      darken(cloth, 0.78)
    }"/>`
  const earrings = `<circle cx="192" cy="322" r="7" fill="#f6c445"/><circle cx="408" cy="322" r="7" fill="#f6c445"/>`
  if (random.chance(0.14)) return headband
  if (!isLong && random.chance(0.16)) return cap
  return isLong && random.chance(0.5) ? earrings : ''
}

function darken (colour: string, factor: number) {
  const parts = colour.slice(1).match(/../g) ?? []
  return `#${parts.map((part) => Math.round(parseInt(part, 16) * factor).toString(16).padStart(2, '0')).join('')}`
}
