import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Stack, type ErrorBoundaryProps } from 'expo-router'
import { Suspense, type ReactNode } from 'react'
import { SafeAreaProvider } from 'react-native-safe-area-context'
import { reopen, useApp } from '../components/api.ts'
import { Screen } from '../components/layout.tsx'
import { SessionProvider, useSession } from '../components/session.tsx'
import { Loading } from '../components/states.tsx'
import { Colours, useTheme } from '../components/theme.ts'

// What realtime keeps current needs no second request within a minute.
const client = new QueryClient({ defaultOptions: { queries: { staleTime: 60_000, retry: false } } })

export default function Root () {
  return (
    <SafeAreaProvider>
      <QueryClientProvider client={client}>
        <Suspense fallback={<Loading />}>
          <Brand>
            <SessionProvider>
              <Pages />
            </SessionProvider>
          </Brand>
        </Suspense>
      </QueryClientProvider>
    </SafeAreaProvider>
  )
}

function Brand ({ children }: { children: ReactNode }) {
  const { brand, language } = useApp()
  // In another language, everything is loaded again.
  return <Colours key={language} value={brand.colours}>{children}</Colours>
}

function Pages () {
  const { isSignedIn } = useSession()
  const theme = useTheme()
  return (
    <Stack screenOptions={{ headerShown: false, contentStyle: { backgroundColor: theme.background } }}>
      <Stack.Protected guard={isSignedIn}>
        <Stack.Screen name='(app)' />
      </Stack.Protected>
      <Stack.Protected guard={!isSignedIn}>
        <Stack.Screen name='sign-in' />
      </Stack.Protected>
    </Stack>
  )
}

/** The first start needs the server; without it, there is no brand yet. */
export function ErrorBoundary ({ error, retry }: ErrorBoundaryProps) {
  const refetch = async () => {
    reopen()
    await retry()
  }
  return (
    <SafeAreaProvider>
      <Screen>
        <Loading of={{ error, refetch }} />
      </Screen>
    </SafeAreaProvider>
  )
}
