import { useColorScheme } from 'react-native'

const light = {
  text: '#1b1a2b',
  soft: '#6b6980',
  page: '#f5f4fa',
  card: '#ffffff',
  line: '#e7e5f0',
  field: '#ecebf4',
  accent: '#5b4be0',
  onAccent: '#ffffff',
  bad: '#c02b3f',
  good: '#117a52'
}

const dark: Theme = {
  text: '#f1f0fa',
  soft: '#a19fb8',
  page: '#0f0e17',
  card: '#1a1926',
  line: '#2a2939',
  field: '#242333',
  accent: '#8577f5',
  onAccent: '#0f0e17',
  bad: '#ff8b98',
  good: '#35c98f'
}

export type Theme = typeof light

export const useTheme = () => useColorScheme() === 'dark' ? dark : light
