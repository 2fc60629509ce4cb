import type { Scene } from './scenes.ts'

// What the people of the demo say.

export const captions: Record<Scene, string[]> = {
  run: [
    'Sunrise 10k before work. Legs heavy, head light. #running #morningrun',
    'Easy pace, big smile. #running',
    'Negative splits today, finally! #running #progress'
  ],
  mountains: [
    'Worth every metre of climbing. #hiking #outdoors',
    'Twenty-two kilometres, one lake, no phone signal. #hiking',
    'Summit snack: the best snack. #hiking #weekend'
  ],
  pool: [
    '2 km without stopping. A year ago I could not swim one lane. #swimming #progress',
    'Empty lanes at six in the morning. #swimming #morning'
  ],
  gym: [
    'New squat PR: 80 kg. The bar felt kind today. #strength #progress',
    'Leg day, so I will see you all next week. #strength',
    'Form first, ego last. #strength'
  ],
  yoga: ['Half an hour of nothing but breathing. #yoga #recovery', 'Rest day is training, too. #yoga #recovery'],
  bowl: [
    'Post-workout bowl: rice, tofu, everything green. #nutrition',
    'Meal prep Sunday. Future me says thanks. #nutrition #weekend'
  ],
  ride: ['80 km and exactly one flat tyre. #cycling', 'Tailwind both ways, I swear. #cycling #weekend'],
  beach: ['Sand runs count double. #running #outdoors', 'Paddled out at dawn, came back happy. #outdoors'],
  forest: ['Trail therapy. #running #outdoors', 'Got lost, found a better route. #outdoors #weekend'],
  climb: ['Sent the blue one after three weeks! #climbing #progress', 'Fingers gone, mood great. #climbing']
}

export const thoughts = [
  'What gets you out of the door when it rains? #motivation',
  'Day 30 of moving every day. Small steps add up. #progress #motivation',
  'Looking for a running partner around Tempelhofer Feld, easy pace. #running',
  'Reminder: water. That is the post. #nutrition',
  'First 5k on Sunday. Nervous and excited in equal parts! #running',
  'Sleep is the cheapest supplement there is. #recovery',
  'To the person who re-racked my weights: you are seen and appreciated. #strength'
]

export const polls = [
  { question: 'When do you train?', options: ['Before work', 'At lunch', 'After work', 'Whenever I can'] },
  { question: 'Sunday plan?', options: ['Long run', 'Mobility', 'Sofa'] },
  { question: 'Music or silence on a run?', options: ['Music', 'Podcast', 'Silence'] }
]

export const comments = [
  'So good! 👏',
  'This makes me want to go right now.',
  'Strong! How long did it take you?',
  'Save me a spot next time 🙌',
  'What a view!',
  'Proud of you 💪',
  'Same here, legs are done.',
  'You are on fire this month 🔥',
  'Where is this?',
  'Goals.',
  'Okay, you convinced me.',
  'Beautiful light!'
]

export const replies = [
  'Thank you! ❤️',
  'Next Saturday, join us!',
  'Took me a while, but it is worth it.',
  'Haha, absolutely.'
]

export const stories = ['Morning!', 'Who is in?', 'Almost there', 'Done ✅', 'Rest day', 'This view', 'Day 43']

export const reactions = ['🔥', '👏', '💪', '😍', '🙌']

export const chats = [
  [
    'Hey! I saw we both run in the mornings.',
    'Hi! Yes, usually around seven. You too?',
    'Seven works. The park on Wednesday?',
    'Deal. Easy six kilometres?',
    'Perfect, see you at the gate 🙌'
  ],
  [
    'Your climbing photo is amazing!',
    'Thank you! That wall took me three weeks.',
    'Would you show me the place some day?',
    'Sure, Saturday morning?'
  ],
  ['How was the ride?', 'Windy, wonderful, and far too long. Come along next time?']
]

export const chatReplies = [
  'Sounds great!',
  'Haha, yes 😄',
  'I am in. What time?',
  'Let us do it this week.',
  'Good idea. Shall I bring coffee?',
  'I was about to ask you the same.'
]

export const workouts = {
  'Morning run': [],
  'Upper body': ['Bench press', 'Barbell row', 'Overhead press'],
  'Lower body': ['Back squat', 'Romanian deadlift', 'Split squat'],
  'Full body': ['Deadlift', 'Push press', 'Pull-up'],
  'Easy ride': [],
  'Swim': []
} as const

export const meals = [
  ['Oats with berries', 420, 18],
  ['Rice bowl with tofu', 640, 32],
  ['Lentil soup', 480, 26],
  ['Pasta with vegetables', 720, 24],
  ['Yoghurt and nuts', 310, 21],
  ['Eggs on toast', 460, 28]
] as const

export interface Plan {
  title: string
  sport: string
  inDays: number
  startTime: string
  endTime: string
  locationName: string
  note?: string
}

/** With the matches of a main person: one to go to, one to host, one to be invited to. */
export const sharedPlans: [Plan, Plan, Plan] = [
  {
    title: 'Easy six kilometres',
    sport: 'running',
    inDays: 1,
    startTime: '07:00',
    endTime: '08:00',
    locationName: 'Tiergarten, at the gate',
    note: 'Slow enough to talk. Coffee afterwards.'
  },
  {
    title: 'Swim before work',
    sport: 'swimming',
    inDays: 2,
    startTime: '06:30',
    endTime: '07:30',
    locationName: 'Stadtbad Mitte'
  },
  {
    title: 'First time on the wall',
    sport: 'bouldering',
    inDays: 4,
    startTime: '18:00',
    endTime: '20:00',
    locationName: 'Boulder hall, Gesundbrunnen',
    note: 'I bring a second pair of shoes.'
  }
]

export const openPlans: Plan[] = [
  { title: 'Sunrise yoga', sport: 'yoga', inDays: 1, startTime: '07:30', endTime: '08:30', locationName: 'Mauerpark' },
  {
    title: 'Hill repeats',
    sport: 'running',
    inDays: 2,
    startTime: '18:30',
    endTime: '19:30',
    locationName: 'Volkspark, south entrance'
  },
  {
    title: 'Ride to the lake',
    sport: 'road_cycling',
    inDays: 3,
    startTime: '10:00',
    endTime: '14:00',
    locationName: 'Brandenburg Gate'
  },
  {
    title: 'Beginners climb',
    sport: 'bouldering',
    inDays: 3,
    startTime: '17:00',
    endTime: '19:00',
    locationName: 'Boulder hall, Gesundbrunnen'
  },
  {
    title: 'Forest walk, fast',
    sport: 'hiking',
    inDays: 5,
    startTime: '11:00',
    endTime: '13:30',
    locationName: 'Grunewald station'
  }
]
