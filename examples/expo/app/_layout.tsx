import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Stack } from 'expo-router'
import { Suspense } from 'react'
import { SafeAreaProvider } from 'react-native-safe-area-context'
import { SessionProvider, useSession } from '../components/session.tsx'
import { useTheme } from '../components/theme.ts'
import { Loading } from '../components/ui.tsx'

// What realtime keeps current needs no second request within a minute.
const client = new QueryClient({ defaultOptions: { queries: { staleTime: 60_000, retry: false } } })

export default function Root () {
  return (
    <SafeAreaProvider>
      <QueryClientProvider client={client}>
        <Suspense fallback={<Loading />}>
          <SessionProvider>
            <Pages />
          </SessionProvider>
        </Suspense>
      </QueryClientProvider>
    </SafeAreaProvider>
  )
}

function Pages () {
  const { isSignedIn } = useSession()
  const theme = useTheme()
  return (
    <Stack screenOptions={{ headerShown: false, contentStyle: { backgroundColor: theme.page } }}>
      <Stack.Protected guard={isSignedIn}>
        <Stack.Screen name='(app)' />
      </Stack.Protected>
      <Stack.Protected guard={!isSignedIn}>
        <Stack.Screen name='sign-in' />
      </Stack.Protected>
    </Stack>
  )
}
