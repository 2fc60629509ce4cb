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
  footerOf?: (data: Data) => string | null
}

/** A field, and below it what the server finds. */
export function Search<Data> ({ label, queryKey, search, resultsOf, footerOf }: SearchOptions<Data>) {
  const theme = useTheme()
  const [text, setText] = useState('')
  const wanted = useSettled(text.trim())
  const { data, error } = useQuery({
    queryKey: [...queryKey, wanted],
    queryFn: async ({ signal }) => await search(wanted, signal),
    enabled: wanted !== ''
  })
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
      {data !== undefined && text.trim() !== '' &&
        resultsOf(data, text.trim()).map(({ key, title, detail, choose }) => (
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
