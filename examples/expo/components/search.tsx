import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Pressable, View } from 'react-native'
import { Input } from './controls.tsx'
import { messageOf } from './errors.ts'
import { ErrorText, Text } from './layout.tsx'
import { useTheme } from './theme.ts'

const PAUSE_MS = 250

export interface Found {
  key: string
  title: string
  detail: string
  choose: () => void
}

interface SearchOptions<Data> {
  label: string
  queryKey: string[]
  /** Called a moment after the last key. The result for an earlier text is dropped. */
  search: (text: string, signal: AbortSignal) => Promise<Data>
  resultsOf: (data: Data, text: string) => Found[]
  /** What can be chosen while the server cannot be reached. */
  offlineOf?: (text: string) => Found[]
  footerOf?: (data: Data) => string | null
}

/** A field, and below it what the server finds. */
export function Search<Data> ({ label, queryKey, search, resultsOf, offlineOf, footerOf }: SearchOptions<Data>) {
  const theme = useTheme()
  const [text, setText] = useState('')
  const wanted = useSettled(text.trim())
  const { data, error, fetchStatus } = useQuery({
    queryKey: [...queryKey, wanted],
    queryFn: async ({ signal }) => await search(wanted, signal),
    enabled: wanted !== ''
  })
  const isOffline = fetchStatus === 'paused'
  const found = data !== undefined
    ? resultsOf(data, text.trim())
    : (error || isOffline) && offlineOf?.(text.trim())
  const footer = data === undefined ? null : footerOf?.(data) ?? null
  return (
    <View style={{ gap: 4 }}>
      <Input
        aria-label={label}
        placeholder={label}
        value={text}
        onChangeText={setText}
        inputMode='search'
        autoCorrect={false}
      />
      {error && <ErrorText>{messageOf(error)}</ErrorText>}
      {isOffline && <Text tone='soft' size={14}>You are offline. This searches when you are back.</Text>}
      {found && text.trim() !== '' &&
        found.map(({ key, title, detail, choose }) => (
          <Pressable
            key={key}
            role='button'
            onPress={() => {
              setText('')
              choose()
            }}
            style={{ paddingVertical: 8, paddingHorizontal: 12, borderBottomWidth: 1, borderColor: theme.line }}
          >
            <Text bold>{title}</Text>
            {detail !== '' && <Text tone='soft' size={14}>{detail}</Text>}
          </Pressable>
        ))}
      {footer !== null && text.trim() !== '' && <Text tone='soft' size={12}>{footer}</Text>}
    </View>
  )
}

function useSettled (text: string) {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
