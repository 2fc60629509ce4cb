import { useRouter, type Href } from 'expo-router'

/** Leaves a page. One that was opened by its address has none to go back to. */
export function useBack (otherwise: Href = '/') {
  const router = useRouter()
  return () => router.canGoBack() ? router.back() : router.replace(otherwise)
}
