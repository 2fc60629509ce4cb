import Ionicons from '@expo/vector-icons/Ionicons'
import { Pressable, TextInput, View, type TextInputProps } from 'react-native'
import { useAttempt } from './attempt.ts'
import { ErrorText, Row, Text, type IconName } from './layout.tsx'
import { useTheme } from './theme.ts'

interface ButtonOptions {
  title: string
  icon?: IconName
  onPress: () => void | Promise<unknown>
  kind?: 'primary' | 'plain' | 'bad'
  isDisabled?: boolean
}

/** A button that waits for what it does, and shows what went wrong below itself. */
export function Button ({ title, icon, onPress, kind = 'plain', isDisabled = false }: ButtonOptions) {
  const theme = useTheme()
  const { attempt, isBusy, error } = useAttempt()
  const colours = {
    primary: { back: theme.accent, tone: 'onAccent' },
    plain: { back: theme.field, tone: 'text' },
    bad: { back: 'transparent', tone: 'bad' }
  } as const
  return (
    <View style={{ gap: 6 }}>
      <Pressable
        role='button'
        disabled={isDisabled || isBusy}
        onPress={() => void attempt(onPress)}
        style={({ pressed }) => ({
          backgroundColor: colours[kind].back,
          borderRadius: 999,
          paddingVertical: 12,
          paddingHorizontal: 16,
          flexDirection: 'row',
          justifyContent: 'center',
          gap: 8,
          alignItems: 'center',
          borderWidth: kind === 'bad' ? 1.5 : 0,
          borderColor: theme.bad,
          opacity: isDisabled || isBusy ? 0.45 : pressed ? 0.75 : 1
        })}
      >
        {icon && <Ionicons aria-hidden name={icon} size={18} color={theme[colours[kind].tone]} />}
        <Text bold tone={colours[kind].tone}>{isBusy ? 'One moment …' : title}</Text>
      </Pressable>
      {error !== '' && <ErrorText>{error}</ErrorText>}
    </View>
  )
}

/** A button without a frame: an icon, and a number beside it. */
export function IconButton (
  { icon, label, count, isOn = false, colour, onPress }: {
    icon: IconName,
    label: string,
    count?: number,
    isOn?: boolean,
    colour?: string,
    onPress: () => void
  }
) {
  const theme = useTheme()
  return (
    <Pressable
      role='button'
      aria-label={count === undefined ? label : `${label}, ${count}`}
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
      <Ionicons aria-hidden name={icon} size={24} color={colour ?? (isOn ? theme.bad : theme.soft)} />
      {count !== undefined && <Text tone='soft' size={15}>{count}</Text>}
    </Pressable>
  )
}

export function Field ({ label, ...props }: TextInputProps & { label: string }) {
  const theme = useTheme()
  return (
    <View style={{ gap: 6, flexGrow: 1, flexShrink: 1 }}>
      <Text size={14} bold>{label}</Text>
      <Input aria-label={label} {...props} style={{ borderRadius: 14, borderWidth: 1, borderColor: theme.line }} />
    </View>
  )
}

/** For the six digits of an email. */
export const CodeField = (props: TextInputProps) => (
  <Field label='Code from the email' {...props} inputMode='numeric' autoComplete='one-time-code' maxLength={6} />
)

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

/** A choice of one. */
export function Segments<Value extends string> (
  { options, value, onChange }: {
    options: Record<Value, string>,
    value: Value | undefined,
    onChange: (value: Value) => void
  }
) {
  return (
    <Row role='group' style={{ flexWrap: 'wrap', gap: 8 }}>
      {(Object.entries(options) as [Value, string][]).map(([key, title]) => (
        <Chip
          key={key}
          title={title}
          isChosen={key === value}
          onPress={() => onChange(key)}
        />
      ))}
    </Row>
  )
}

export function Chip ({ title, isChosen, onPress }: { title: string, isChosen: boolean, onPress: () => void }) {
  const theme = useTheme()
  return (
    <Pressable
      role='button'
      aria-pressed={isChosen}
      onPress={onPress}
      style={{
        backgroundColor: isChosen ? theme.accent : theme.field,
        borderRadius: 999,
        // With large text, a long title wraps.
        maxWidth: '100%',
        paddingVertical: 9,
        paddingHorizontal: 16
      }}
    >
      <Text size={15} bold tone={isChosen ? 'onAccent' : 'text'}>{title}</Text>
    </Pressable>
  )
}
