import { useNavigation, useRouter, type Href } from 'expo-router'

/** Leaves a page, unless the person has left it already. One that was opened by its address has none to go back to. */
export function useBack (otherwise: Href = '/') {
  const router = useRouter()
  const navigation = useNavigation()
  return () => {
    if (!navigation.isFocused()) return
    if (router.canGoBack()) router.back()
    else router.replace(otherwise)
  }
}
