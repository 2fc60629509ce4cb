import { TandemProvider } from '@tandem/react'
import { Stack } from 'expo-router'
import { outboxStorage, useApi } from '../../components/api.ts'
import { useAppState } from '../../components/app-state.ts'
import { useTheme } from '../../components/theme.ts'

/** What a signed-in person sees. */
export default function SignedIn () {
  const theme = useTheme()
  useAppState()
  return (
    <TandemProvider tandem={useApi()} outbox={outboxStorage}>
      <Stack
        screenOptions={{
          contentStyle: { backgroundColor: theme.page },
          headerStyle: { backgroundColor: theme.card },
          headerTintColor: theme.text,
          headerShadowVisible: false,
          headerBackButtonDisplayMode: 'minimal'
        }}
      >
        <Stack.Screen name='(tabs)' options={{ headerShown: false }} />
        <Stack.Screen name='onboarding' options={{ headerShown: false }} />
        <Stack.Screen name='stories/[userId]' options={{ headerShown: false, animation: 'fade' }} />
        <Stack.Screen name='post/[id]' options={{ title: 'Post' }} />
        <Stack.Screen name='person/[id]' options={{ title: 'Profile' }} />
        <Stack.Screen name='chat/[id]' options={{ title: 'Chat' }} />
        <Stack.Screen name='new-post' options={{ title: 'New post', presentation: 'modal' }} />
        <Stack.Screen name='paywall' options={{ title: 'Premium', presentation: 'modal' }} />
        <Stack.Screen name='settings' options={{ title: 'Settings' }} />
        <Stack.Screen name='delete-account' options={{ title: 'Delete account' }} />
      </Stack>
    </TandemProvider>
  )
}
