import { ActivityIndicator, View } from 'react-native'
import { Button } from './controls.tsx'
import { messageOf } from './errors.ts'
import { Icon, Text, type IconName } from './layout.tsx'
import { useTheme } from './theme.ts'

/** What a list shows when it has nothing. */
export function Empty ({ icon, title, children }: { icon: IconName, title: string, children: string }) {
  return (
    <View style={{ alignItems: 'center', gap: 6, paddingVertical: 32, paddingHorizontal: 24 }}>
      <Icon name={icon} size={40} />
      <Text bold size={18}>{title}</Text>
      <Text tone='soft' style={{ textAlign: 'center' }}>{children}</Text>
    </View>
  )
}

export interface Loaded {
  error: Error | null
  refetch: () => unknown
  /** `paused` without a network: it goes on by itself. */
  fetchStatus?: string
}

interface Pages {
  hasNextPage: boolean
  fetchNextPage: (options: { throwOnError: true }) => Promise<unknown>
}

/** The end of a list that has more. */
export const More = ({ of }: { of: Pages }) =>
  of.hasNextPage && <Button title='Show more' onPress={async () => await of.fetchNextPage({ throwOnError: true })} />

/** While something loads, and when it cannot be loaded. */
export function Loading ({ of }: { of?: Loaded }) {
  const theme = useTheme()
  if (of?.fetchStatus === 'paused') {
    return <Empty icon='cloud-offline-outline' title='You are offline'>This loads when you are back.</Empty>
  }
  if (!of?.error) {
    return <ActivityIndicator aria-label='Loading' color={theme.accent} style={{ paddingVertical: 48 }} />
  }
  return (
    <View style={{ alignItems: 'center', gap: 12, paddingVertical: 48 }}>
      <Icon name='cloud-offline-outline' size={40} />
      <Text tone='soft' style={{ textAlign: 'center' }}>{messageOf(of.error)}</Text>
      <Button title='Try again' onPress={() => void of.refetch()} />
    </View>
  )
}
