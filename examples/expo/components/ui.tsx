import Ionicons from '@expo/vector-icons/Ionicons'
import { TandemError } from '@tandem/sdk'
import { useState, type ComponentProps, type ReactNode } from 'react'
import {
  ActivityIndicator,
  Image,
  Pressable,
  ScrollView,
  Text as NativeText,
  TextInput,
  View,
  type TextInputProps,
  type TextProps,
  type ViewProps
} from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { useTheme } from './theme.ts'

export type IconName = ComponentProps<typeof Ionicons>['name']

const MAX_WIDTH = 640

/** A page that scrolls. */
export function Screen ({ title, action, children }: { title?: string, action?: ReactNode, children: ReactNode }) {
  const theme = useTheme()
  return (
    <SafeAreaView edges={['top']} style={{ flex: 1, backgroundColor: theme.page }}>
      <ScrollView
        keyboardShouldPersistTaps='handled'
        contentContainerStyle={{ padding: 16, gap: 14, width: '100%', maxWidth: MAX_WIDTH, alignSelf: 'center' }}
      >
        {title !== undefined && (
          <Row style={{ justifyContent: 'space-between', minHeight: 44 }}>
            <Text size={26} bold role='heading'>{title}</Text>
            {action}
          </Row>
        )}
        {children}
      </ScrollView>
    </SafeAreaView>
  )
}

export function Card ({ style, ...props }: ViewProps) {
  const theme = useTheme()
  return <View {...props} style={[{ backgroundColor: theme.card, borderRadius: 20, padding: 16, gap: 10 }, style]} />
}

export const Row = ({ style, ...props }: ViewProps) => (
  <View {...props} style={[{ flexDirection: 'row', alignItems: 'center', gap: 10 }, style]} />
)

interface TextOptions extends TextProps {
  size?: number
  bold?: boolean
  tone?: 'text' | 'soft' | 'accent' | 'bad' | 'good' | 'onAccent'
}

export function Text ({ size = 16, bold = false, tone = 'text', style, ...props }: TextOptions) {
  const theme = useTheme()
  return (
    <NativeText
      {...props}
      style={[
        { color: theme[tone], fontSize: size, lineHeight: size * 1.35, fontWeight: bold ? '700' : '400' },
        style
      ]}
    />
  )
}

interface ButtonOptions {
  title: string
  onPress: () => void | Promise<unknown>
  kind?: 'primary' | 'plain' | 'bad'
  isDisabled?: boolean
}

/** A button that waits for what it does, and shows what went wrong below itself. */
export function Button ({ title, onPress, kind = 'plain', isDisabled = false }: ButtonOptions) {
  const theme = useTheme()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState('')
  const colours = {
    primary: { back: theme.accent, tone: 'onAccent' },
    plain: { back: theme.field, tone: 'text' },
    bad: { back: 'transparent', tone: 'bad' }
  } as const
  const press = async () => {
    setBusy(true)
    setError('')
    try {
      await onPress()
    } catch (error) {
      setError(messageOf(error))
    }
    setBusy(false)
  }
  return (
    <View style={{ gap: 6 }}>
      <Pressable
        role='button'
        disabled={isDisabled || isBusy}
        onPress={() => void press()}
        style={({ pressed }) => ({
          backgroundColor: colours[kind].back,
          borderRadius: 999,
          paddingVertical: 12,
          paddingHorizontal: 18,
          alignItems: 'center',
          borderWidth: kind === 'bad' ? 1.5 : 0,
          borderColor: theme.bad,
          opacity: isDisabled || isBusy ? 0.45 : pressed ? 0.75 : 1
        })}
      >
        <Text bold tone={colours[kind].tone}>{isBusy ? 'One moment …' : title}</Text>
      </Pressable>
      {error !== '' && <ErrorText>{error}</ErrorText>}
    </View>
  )
}

export const ErrorText = ({ children }: { children: string }) =>
  <Text tone='bad' size={14} role='alert'>{children}</Text>

/** A button without a frame: an icon, and a number beside it. */
export function IconButton (
  { icon, label, count, isOn = false, onPress }: {
    icon: IconName,
    label: string,
    count?: number,
    isOn?: boolean,
    onPress: () => void
  }
) {
  const theme = useTheme()
  return (
    <Pressable
      role='button'
      aria-label={label}
      onPress={onPress}
      style={{
        minHeight: 44,
        minWidth: 44,
        flexDirection: 'row',
        gap: 6,
        alignItems: 'center',
        justifyContent: 'center'
      }}
    >
      <Ionicons name={icon} size={24} color={isOn ? theme.bad : theme.soft} />
      {count !== undefined && <Text tone='soft' size={15}>{count}</Text>}
    </Pressable>
  )
}

export function Icon ({ name, size = 22 }: { name: IconName, size?: number }) {
  return <Ionicons name={name} size={size} color={useTheme().soft} />
}

export function Field ({ label, ...props }: TextInputProps & { label: string }) {
  const theme = useTheme()
  return (
    <View style={{ gap: 6 }}>
      <Text size={14} bold>{label}</Text>
      <Input aria-label={label} {...props} style={{ borderRadius: 14, borderWidth: 1, borderColor: theme.line }} />
    </View>
  )
}

export function Input ({ style, ...props }: TextInputProps) {
  const theme = useTheme()
  return (
    <TextInput
      placeholderTextColor={theme.soft}
      {...props}
      style={[{
        backgroundColor: theme.field,
        color: theme.text,
        borderRadius: 22,
        paddingHorizontal: 16,
        paddingVertical: 11,
        fontSize: 16,
        flexGrow: 1,
        minWidth: 0
      }, style]}
    />
  )
}

export function Avatar ({ name, image, size = 44 }: { name: string | null, image: string | null, size?: number }) {
  const theme = useTheme()
  const shape = { width: size, height: size, borderRadius: size / 2, backgroundColor: theme.field }
  if (image !== null) return <Image source={{ uri: image }} style={shape} alt='' />
  return (
    <View style={[shape, { alignItems: 'center', justifyContent: 'center' }]}>
      <Text bold tone='soft' size={size * 0.42}>{name?.[0] ?? '?'}</Text>
    </View>
  )
}

/** What a list shows when it has nothing. */
export function Empty ({ icon, title, children }: { icon: IconName, title: string, children: string }) {
  return (
    <View style={{ alignItems: 'center', gap: 6, paddingVertical: 48, paddingHorizontal: 24 }}>
      <Icon name={icon} size={40} />
      <Text bold size={18}>{title}</Text>
      <Text tone='soft' style={{ textAlign: 'center' }}>{children}</Text>
    </View>
  )
}

interface Loaded {
  error: Error | null
  refetch: () => unknown
}

/** While something loads, and when it cannot be loaded. */
export function Loading ({ of }: { of?: Loaded }) {
  const theme = useTheme()
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

export const messageOf = (error: unknown) =>
  error instanceof TandemError ? error.message : 'Something went wrong. Please try again.'

/** A choice of one. */
export function Segments<Value extends string> (
  { options, value, onChange }: {
    options: Record<Value, string>,
    value: Value | undefined,
    onChange: (value: Value) => void
  }
) {
  const theme = useTheme()
  return (
    <Row style={{ flexWrap: 'wrap', gap: 8 }}>
      {(Object.entries(options) as [Value, string][]).map(([key, title]) => (
        <Pressable
          key={key}
          role='button'
          aria-pressed={key === value}
          onPress={() => onChange(key)}
          style={{
            backgroundColor: key === value ? theme.accent : theme.field,
            borderRadius: 999,
            paddingVertical: 9,
            paddingHorizontal: 16
          }}
        >
          <Text size={15} bold tone={key === value ? 'onAccent' : 'text'}>{title}</Text>
        </Pressable>
      ))}
    </Row>
  )
}

export function Bar ({ share }: { share: number }) {
  const theme = useTheme()
  return (
    <View style={{ height: 8, borderRadius: 4, backgroundColor: theme.field, overflow: 'hidden' }}>
      <View
        style={{ height: 8, borderRadius: 4, backgroundColor: theme.accent, width: `${Math.min(100, share * 100)}%` }}
      />
    </View>
  )
}

export function timeAgo (date: string) {
  const seconds = (Date.now() - Date.parse(date)) / 1_000
  if (seconds < 60) return 'now'
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
