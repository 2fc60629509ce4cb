import { TandemProvider } from '@tandem/react'
import { Stack, useRouter } from 'expo-router'
import { Platform } from 'react-native'
import { outboxStorage, useApp } from '../../components/api.ts'
import { useAppState } from '../../components/app-state.ts'
import { IconButton } from '../../components/controls.tsx'
import { useTheme } from '../../components/theme.ts'

const titles = {
  'post/[id]': 'Post',
  'person/[id]': 'Profile',
  'chat/[id]': 'Chat',
  train: 'Train',
  progress: 'Progress',
  goals: 'Goals',
  achievements: 'Achievements',
  health: 'Health',
  plans: 'Plans',
  gyms: 'Gyms',
  safety: 'Safety',
  invite: 'Invite a friend',
  settings: 'Settings',
  'delete-account': 'Delete account'
}

const modals = { 'new-post': 'New post', 'new-plan': 'New plan', report: 'Report', paywall: 'Premium' }

/** A page that was opened by its address has none to go back to. */
function Back () {
  const router = useRouter()
  return (
    <IconButton
      icon='arrow-back'
      label='Back'
      onPress={() => router.canGoBack() ? router.back() : router.replace('/')}
    />
  )
}

/** What a signed-in person sees. */
export default function SignedIn () {
  const theme = useTheme()
  useAppState()
  return (
    <TandemProvider tandem={useApp().tandem} outbox={outboxStorage}>
      <Stack
        screenOptions={{
          contentStyle: { backgroundColor: theme.background },
          headerStyle: { backgroundColor: theme.card },
          headerTintColor: theme.text,
          headerShadowVisible: false,
          headerTitleStyle: { fontFamily: 'System', fontWeight: '700' },
          headerBackButtonDisplayMode: 'minimal',
          ...Platform.OS === 'web' && { headerLeft: Back }
        }}
      >
        <Stack.Screen name='(tabs)' options={{ headerShown: false }} />
        <Stack.Screen name='onboarding' options={{ headerShown: false }} />
        <Stack.Screen name='stories/[userId]' options={{ headerShown: false, animation: 'fade' }} />
        {Object.entries(titles).map(([name, title]) => <Stack.Screen key={name} name={name} options={{ title }} />)}
        {Object.entries(modals).map(([name, title]) => (
          <Stack.Screen key={name} name={name} options={{ title, presentation: 'modal' }} />
        ))}
      </Stack>
    </TandemProvider>
  )
}
