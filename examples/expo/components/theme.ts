import type { Meta } from '@tandem/sdk'
import { createContext, useContext } from 'react'
import { useColorScheme } from 'react-native'

const light = {
  text: '#1b1d1f',
  soft: '#5f666b',
  card: '#ffffff',
  line: '#dfe4e2',
  field: '#e9edeb',
  bad: '#b3261e',
  good: '#117a52',
  accent: '#1b1d1f',
  onAccent: '#ffffff',
  background: '#ffffff'
}

const dark: Theme = {
  text: '#f0f2f1',
  soft: '#a3aaa7',
  card: '#1b201e',
  line: '#2d3431',
  field: '#272d2a',
  bad: '#ff8b8b',
  good: '#4fd6a0',
  accent: '#f0f2f1',
  onAccent: '#101412',
  background: '#101412'
}

export type Theme = typeof light

/** The colours of the brand. Until the server has said them, there are greys. */
export const Colours = createContext<Meta['colours'] | undefined>(undefined)

export function useTheme (): Theme {
  const isDark = useColorScheme() === 'dark'
  const colours = useContext(Colours)
  return { ...isDark ? dark : light, ...isDark ? colours?.dark : colours?.light }
}
