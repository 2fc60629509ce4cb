import { createRandom, type Random } from './random.ts'

// An illustrated place to train, 1000 by 1000: flat layers in one palette.

const palettes = [
  {
    sky: ['#fde2c8', '#f7a072'],
    sun: '#fff3d6',
    far: '#d98b73',
    middle: '#a8586a',
    near: '#5b3a5e',
    accent: '#ffd166'
  },
  {
    sky: ['#d7f0ff', '#8ecae6'],
    sun: '#fff8e1',
    far: '#a9c9d6',
    middle: '#5c9ead',
    near: '#2b5f6d',
    accent: '#ffb703'
  },
  {
    sky: ['#e8f8ee', '#a8dcc0'],
    sun: '#fffbe6',
    far: '#9fcfae',
    middle: '#5aa57c',
    near: '#2d6a4f',
    accent: '#f4a261'
  },
  {
    sky: ['#2b2d5b', '#e07a9b'],
    sun: '#ffd9b8',
    far: '#5f4b8b',
    middle: '#3d3470',
    near: '#211d46',
    accent: '#ff9e80'
  },
  { sky: ['#ffe5ec', '#cdb4f6'], sun: '#ffffff', far: '#c1a6e0', middle: '#8e7cc3', near: '#574b90', accent: '#ff7aa2' }
] as const

type Palette = typeof palettes[number]

const scenes = { run, mountains, pool, gym, yoga, bowl, ride, beach, forest, climb }

export type Scene = keyof typeof scenes
export const sceneNames = Object.keys(scenes) as Scene[]

/** A picture of `scene`; another seed is another day. */
export function drawScene (seed: string, scene: Scene, { width = 840, height = 840 } = {}): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 1000 1000" preserveAspectRatio="xMidYMid slice">${
    sceneLayers(seed, scene)
  }</svg>`
}

/** The layers alone, in 1000 by 1000. */
export function sceneLayers (seed: string, scene: Scene): string {
  const random = createRandom(`scene ${seed}`)
  const palette = random.pick(palettes)
  return `<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop stop-color="${
    palette.sky[0]
  }"/><stop offset="1" stop-color="${palette.sky[1]}"/></linearGradient></defs>
<rect width="1000" height="1000" fill="url(#sky)"/>${scenes[scene](random, palette)}`
}

const sun = (random: Random, { sun }: Palette) => {
  const [x, y] = [random.integer(250, 750), random.integer(200, 380)]
  return `<circle cx="${x}" cy="${y}" r="150" fill="${sun}" opacity=".35"/><circle cx="${x}" cy="${y}" r="95" fill="${sun}"/>`
}

const hills = (random: Random, y: number, colour: string) => {
  const [one, two, three] = [random.integer(-90, 20), random.integer(-40, 90), random.integer(-100, 40)]
  return `<path d="M0 ${y}C180 ${y + one} 330 ${y + two} 520 ${y}S840 ${y + three} 1000 ${
    y + 20
  }V1000H0z" fill="${colour}"/>`
}

const tree = (x: number, y: number, size: number, colour: string) =>
  `<path d="M${x} ${y - size}l${size * 0.34} ${size * 0.5}h${-size * 0.14}l${size * 0.26} ${size * 0.42}H${
    x - size * 0.46
  }l${size * 0.26} ${-size * 0.42}h${-size * 0.14}z" fill="${colour}"/><rect x="${x - size * 0.05}" y="${
    y - size * 0.1
  }" width="${size * 0.1}" height="${size * 0.2}" fill="${colour}"/>`

function run (random: Random, palette: Palette) {
  const bend = random.integer(380, 620)
  return `${sun(random, palette)}${hills(random, 480, palette.far)}${hills(random, 580, palette.middle)}${
    hills(random, 690, palette.near)
  }
<path d="M${bend - 20} 690C${bend + 140} 760 ${bend - 260} 830 ${bend - 180} 1000H${bend + 240}C${bend + 40} 850 ${
    bend + 260
  } 770 ${bend + 20} 690z" fill="${palette.sky[0]}" opacity=".85"/>
${[90, 190, 830, 930].map((x) => tree(x, random.integer(720, 820), random.integer(130, 210), palette.near)).join('')}`
}

function mountains (random: Random, palette: Palette) {
  const peak = (x: number, y: number, width: number, colour: string) =>
    `<path d="M${x - width} 700L${x} ${y}L${x + width} 700z" fill="${colour}"/><path d="M${x} ${y}l${width * 0.26} ${
      (700 - y) * 0.26
    }l${-width * 0.12} ${-(700 - y) * 0.04}l${-width * 0.12} ${(700 - y) * 0.08}l${-width * 0.12} ${
      -(700 - y) * 0.07
    }l${-width * 0.16} ${(700 - y) * 0.03}z" fill="#fff" opacity=".9"/>`
  return `${sun(random, palette)}${peak(random.integer(180, 300), 330, 330, palette.far)}${
    peak(random.integer(700, 820), 300, 360, palette.far)
  }${peak(random.integer(440, 560), 240, 380, palette.middle)}
<rect y="690" width="1000" height="310" fill="${
    palette.sky[1]
  }"/><path d="M0 690h1000v26c-300 26-700-22-1000 0z" fill="${palette.near}"/>
${
    [760, 820, 890].map((y) =>
      `<path d="M${random.integer(80, 300)} ${y}h${
        random.integer(200, 420)
      }" stroke="#fff" stroke-width="8" opacity=".4" stroke-linecap="round"/>`
    ).join('')
  }
${[60, 150, 880, 960].map((x) => tree(x, random.integer(800, 900), random.integer(200, 280), palette.near)).join('')}`
}

function pool (random: Random, palette: Palette) {
  const water = random.pick(['#4cc9f0', '#3fb8d6', '#48bfe3'])
  const floats = [270, 430, 570, 730].map((x) =>
    `<path d="M${500 + (x - 500) * 0.42} 330L${
      500 + (x - 500) * 2.1
    } 1000" stroke="${palette.accent}" stroke-width="14" stroke-dasharray="26 20"/>`
  )
  const ripples = Array.from({ length: 26 }, () => {
    const [x, y] = [random.integer(60, 900), random.integer(380, 980)]
    return `<path d="M${x} ${y}q20-12 40 0t40 0" stroke="#fff" stroke-width="6" fill="none" opacity=".5" stroke-linecap="round"/>`
  })
  return `<rect width="1000" height="330" fill="${palette.far}"/>${
    [100, 300, 500, 700, 900].map((x) =>
      `<rect x="${x - 62}" y="60" width="124" height="190" rx="10" fill="${palette.sky[0]}" opacity=".8"/>`
    ).join('')
  }
<rect y="300" width="1000" height="40" fill="#f1f5f9"/><rect y="330" width="1000" height="670" fill="${water}"/>${
    floats.join('')
  }${ripples.join('')}
<circle cx="${
    random.integer(420, 580)
  }" cy="640" r="46" fill="#e0a07a"/><path d="M410 690q90-70 190 0" stroke="#e0a07a" stroke-width="34" fill="none" stroke-linecap="round"/>`
}

function gym (random: Random, palette: Palette) {
  const plate = (x: number, y: number, height: number, colour: string) =>
    `<rect x="${x}" y="${y - height / 2}" width="34" height="${height}" rx="12" fill="${colour}"/>`
  const bar = (y: number, size: number, colour: string) =>
    `<rect x="120" y="${y - 8}" width="760" height="16" rx="8" fill="#cbd5e1"/>${
      [210, 250].map((x, index) => plate(x, y, size - index * -40, colour)).join('')
    }${[716, 756].map((x, index) => plate(x, y, size + 40 - index * 40, colour)).join('')}`
  return `<rect width="1000" height="1000" fill="${palette.near}"/><rect y="720" width="1000" height="280" fill="${palette.middle}"/>
<circle cx="500" cy="360" r="${random.integer(250, 300)}" fill="${palette.far}" opacity=".55"/>
<path d="M250 160v640M750 160v640" stroke="#e2e8f0" stroke-width="26" stroke-linecap="round"/><path d="M250 180h500" stroke="#e2e8f0" stroke-width="20"/>
${bar(random.integer(380, 460), 220, palette.accent)}
${
    [120, 270, 700, 850].map((x) =>
      `<rect x="${x - 50}" y="838" width="100" height="18" fill="#cbd5e1"/><circle cx="${
        x - 50
      }" cy="847" r="38" fill="#1e293b"/><circle cx="${x + 50}" cy="847" r="38" fill="#1e293b"/>`
    ).join('')
  }`
}

function yoga (random: Random, palette: Palette) {
  const leaf = (angle: number) =>
    `<ellipse cx="0" cy="-120" rx="34" ry="120" fill="${palette.near}" transform="rotate(${angle})"/>`
  return `<rect width="1000" height="1000" fill="${
    palette.sky[0]
  }"/><rect y="640" width="1000" height="360" fill="${palette.far}" opacity=".6"/>
<rect x="120" y="90" width="420" height="430" rx="210" fill="${palette.sky[1]}"/>${`<circle cx="330" cy="${
    random.integer(250, 360)
  }" r="80" fill="${palette.sun}"/>`}
<path d="M190 960l150-230h560l-110 230z" fill="${palette.accent}"/><path d="M240 930l110-170" stroke="#fff" stroke-width="6" opacity=".6"/>
<g transform="translate(820 600)">${
    [-60, -30, 0, 30, 60].map(leaf).join('')
  }<path d="M-70 0h140l-24 130h-92z" fill="${palette.middle}"/></g>
<g fill="none" stroke="${palette.near}" stroke-width="44" stroke-linecap="round" stroke-linejoin="round"><path d="M560 640v120M560 780q-140 20-170 70 170 50 340 0-30-50-170-70M560 650l-110 120M560 650l110 120"/></g><circle cx="560" cy="570" r="54" fill="${palette.near}"/>`
}

function bowl (random: Random) {
  const board = random.pick(['#e9d8c3', '#d7e3e0', '#f3e3d9', '#dfe6f3'])
  const foods = ['#e63946', '#f4a261', '#8ac926', '#ffca3a', '#6a994e', '#f28482', '#c77dff']
  const bites = Array.from({ length: 46 }, () => {
    const angle = random.next() * Math.PI * 2
    const far = Math.sqrt(random.next()) * 235
    const [x, y] = [500 + Math.cos(angle) * far, 500 + Math.sin(angle) * far]
    const colour = foods[Math.floor(angle / (Math.PI * 2) * foods.length)]
    return `<circle cx="${x}" cy="${y}" r="${
      random.integer(26, 48)
    }" fill="${colour}" stroke="#fff" stroke-opacity=".35" stroke-width="5"/>`
  })
  return `<rect width="1000" height="1000" fill="${board}"/><path d="M0 ${random.integer(120, 220)}h1000M0 ${
    random.integer(760, 880)
  }h1000" stroke="#000" stroke-opacity=".06" stroke-width="14"/>
<circle cx="512" cy="520" r="345" fill="#000" opacity=".12"/><circle cx="500" cy="500" r="340" fill="#33415c"/><circle cx="500" cy="500" r="300" fill="#f7f3ea"/>${
    bites.join('')
  }
<rect x="900" y="220" width="26" height="560" rx="13" fill="#94a3b8"/><ellipse cx="913" cy="210" rx="46" ry="76" fill="#94a3b8"/>`
}

function ride (random: Random, palette: Palette) {
  const wheel = (x: number) =>
    `<circle cx="${x}" cy="720" r="125" fill="none" stroke="#1f2937" stroke-width="18"/><circle cx="${x}" cy="720" r="12" fill="#1f2937"/>${
      [0, 30, 60, 90, 120, 150].map((angle) =>
        `<path d="M${
          x - 118
        } 720h236" stroke="#1f2937" stroke-opacity=".35" stroke-width="3" transform="rotate(${angle} ${x} 720)"/>`
      ).join('')
    }`
  return `${sun(random, palette)}${hills(random, 500, palette.far)}${
    hills(random, 600, palette.middle)
  }<rect y="820" width="1000" height="180" fill="${palette.near}"/><path d="M0 910h1000" stroke="#fff" stroke-width="10" stroke-dasharray="70 50" opacity=".7"/>
${wheel(310)}${
    wheel(690)
  }<g fill="none" stroke="${palette.accent}" stroke-width="20" stroke-linejoin="round" stroke-linecap="round"><path d="M310 720l110-210h200l70 210M420 510l70 210h-180M490 720l130-210M400 470h60M620 510l-20-70h80"/></g><circle cx="490" cy="720" r="30" fill="#1f2937"/>`
}

function beach (random: Random, palette: Palette) {
  return `${sun(random, palette)}<rect y="460" width="1000" height="260" fill="${palette.middle}"/>
${
    [500, 560, 620].map((y) =>
      `<path d="M0 ${y}q60-${
        random.integer(10, 26)
      } 120 0t120 0 120 0 120 0 120 0 120 0 120 0 120 0 120 0" stroke="#fff" stroke-width="8" fill="none" opacity=".55"/>`
    ).join('')
  }
<path d="M0 700c240-70 420 40 620-10s280-20 380 0v310H0z" fill="#f2dcb3"/><path d="M0 700c240-70 420 40 620-10s280-20 380 0v24c-100-20-180-50-380 0S240 654 0 724z" fill="#fff" opacity=".8"/>
${
    Array.from({ length: 7 }, (_, step) =>
      `<ellipse cx="${300 + step * 62 + step % 2 * 26}" cy="${
        960 - step * 30
      }" rx="20" ry="11" fill="#d9b98a" transform="rotate(-24 ${300 + step * 62} ${960 - step * 30})"/>`).join('')
  }
<g transform="translate(${
    random.integer(760, 860)
  } 900) rotate(12)"><ellipse rx="60" ry="240" cy="-150" fill="${palette.accent}"/><path d="M0-380v460" stroke="#fff" stroke-width="12"/></g>`
}

function forest (random: Random, palette: Palette) {
  const row = (y: number, size: number, colour: string, count: number) =>
    Array.from(
      { length: count },
      (_, index) =>
        tree(
          index * 1000 / (count - 1) + random.integer(-30, 30),
          y + random.integer(-20, 20),
          size + random.integer(-50, 50),
          colour
        )
    ).join('')
  return `${sun(random, palette)}${row(560, 300, palette.far, 9)}${hills(random, 560, palette.far)}${
    row(700, 360, palette.middle, 7)
  }${hills(random, 690, palette.middle)}
<path d="M470 690c60 60-120 150-60 310h260c-160-150 20-230-140-310z" fill="${palette.sky[0]}" opacity=".7"/>${
    row(960, 460, palette.near, 2)
  }`
}

function climb (random: Random, palette: Palette) {
  const holds = Array.from({ length: 34 }, () => {
    const [x, y] = [random.integer(40, 960), random.integer(40, 960)]
    const colour = random.pick(['#ef476f', '#ffd166', '#06d6a0', '#118ab2', '#f78c6b'])
    return `<path d="M${
      x - 34
    } ${y}c0-26 20-36 40-30s36 14 28 36-34 28-52 22-16-14-16-28z" fill="${colour}" transform="rotate(${
      random.integer(0, 360)
    } ${x} ${y})"/>`
  })
  return `<rect width="1000" height="1000" fill="${palette.far}"/><path d="M0 0h430L300 1000H0z" fill="${palette.middle}"/><path d="M760 0h240v1000H880z" fill="${palette.near}" opacity=".75"/>${
    holds.join('')
  }`
}
