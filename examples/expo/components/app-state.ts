import { focusManager } from '@tanstack/react-query'
import { useEffect } from 'react'
import { AppState, Platform } from 'react-native'

/** A phone closes the connections of an app in the background: it pauses them, and goes on when the app is back. */
export function useAppState () {
  useEffect(() => {
    // TanStack Query follows the visibility of a page by itself.
    if (Platform.OS === 'web') return
    const subscription = AppState.addEventListener('change', (state) => focusManager.setFocused(state === 'active'))
    return () => subscription.remove()
  }, [])
}
