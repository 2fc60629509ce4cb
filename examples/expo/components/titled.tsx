import { useFocusEffect } from 'expo-router'
import { useCallback, type ReactElement } from 'react'
import { Platform } from 'react-native'
import { useApp } from './api.ts'

interface TitledOptions {
  options: { title?: string }
  children: ReactElement
}

/** The layout of a page, which names it in the tab of a browser, too. Navigators call it: it is no component. */
export const titled = ({ options: { title }, children }: TitledOptions) => <Titled title={title}>{children}</Titled>

function Titled ({ title, children }: { title: string | undefined, children: ReactElement }) {
  const { brand } = useApp()
  useFocusEffect(useCallback(() => {
    if (Platform.OS === 'web' && title !== undefined) document.title = `${title} · ${brand.name}`
  }, [title, brand]))
  return children
}
