import { TandemProvider } from '@tandem/react'
import type { OutboxEntry, TandemError } from '@tandem/sdk'
import { Stack } from 'expo-router'
import { useCallback, useState } from 'react'
import { Platform, View } from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { outboxStorage, useApp } from '../../components/api.ts'
import { useAppState } from '../../components/app-state.ts'
import { useBack } from '../../components/back.ts'
import { IconButton } from '../../components/controls.tsx'
import { ErrorText, Row } from '../../components/layout.tsx'
import { useTheme } from '../../components/theme.ts'
import { titled } from '../../components/titled.tsx'

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

const Back = () => <IconButton icon='arrow-back' label='Back' onPress={useBack()} />

function Refusal ({ text, onClose }: { text: string, onClose: () => void }) {
  return (
    <SafeAreaView edges={['top']} style={{ backgroundColor: useTheme().card }}>
      <Row style={{ paddingHorizontal: 16, paddingVertical: 8, justifyContent: 'center' }}>
        <View style={{ flexShrink: 1 }}>
          <ErrorText>{text}</ErrorText>
        </View>
        <IconButton icon='close' label='Close' onPress={onClose} />
      </Row>
    </SafeAreaView>
  )
}

/** What a signed-in person sees. */
export default function SignedIn () {
  const theme = useTheme()
  const [refusal, setRefusal] = useState('')
  // What people wrote is not lost without a word.
  const onRefused = useCallback(({ operation, options }: OutboxEntry, { message }: TandemError) => {
    const { content } = (options as { body?: { content?: string } }).body ?? {}
    const what = content !== undefined ? `“${content}” was not sent.` : operation === 'saveLogs' && 'It was not logged.'
    setRefusal([what, message].filter(Boolean).join(' '))
  }, [])
  useAppState()
  return (
    <TandemProvider tandem={useApp().tandem} outbox={outboxStorage} onRefused={onRefused}>
      {refusal !== '' && <Refusal text={refusal} onClose={() => setRefusal('')} />}
      <Stack
        screenLayout={titled}
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
        <Stack.Screen name='onboarding' options={{ title: 'About you', headerShown: false }} />
        <Stack.Screen name='stories/[userId]' options={{ title: 'Stories', headerShown: false, animation: 'fade' }} />
        {Object.entries(titles).map(([name, title]) => <Stack.Screen key={name} name={name} options={{ title }} />)}
        {Object.entries(modals).map(([name, title]) => (
          <Stack.Screen key={name} name={name} options={{ title, presentation: 'modal' }} />
        ))}
      </Stack>
    </TandemProvider>
  )
}
