import Ionicons from '@expo/vector-icons/Ionicons'
import { useRouter, type Href } from 'expo-router'
import type { ComponentProps, ReactNode } from 'react'
import { Image, Pressable, ScrollView, Text as NativeText, View, type TextProps, type ViewProps } from 'react-native'
import { SafeAreaView } from 'react-native-safe-area-context'
import { useTheme } from './theme.ts'

export type IconName = ComponentProps<typeof Ionicons>['name']

export const MAX_WIDTH = 640

/** A page that scrolls. */
export function Screen ({ title, action, children }: { title?: string, action?: ReactNode, children: ReactNode }) {
  const theme = useTheme()
  return (
    <SafeAreaView role='main' edges={['top']} style={{ flex: 1, backgroundColor: theme.background }}>
      <ScrollView
        keyboardShouldPersistTaps='handled'
        contentContainerStyle={{ padding: 16, gap: 14, width: '100%', maxWidth: MAX_WIDTH, alignSelf: 'center' }}
      >
        {title !== undefined && (
          <Row style={{ justifyContent: 'space-between', minHeight: 44 }}>
            <Text size={26} bold role='heading' style={{ flexShrink: 1, minWidth: 0 }}>{title}</Text>
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

/** A card with a heading. */
export function Section ({ title, children }: { title: string, children: ReactNode }) {
  return (
    <Card role='region' aria-label={title}>
      <Text bold size={18} role='heading' aria-level={2}>{title}</Text>
      {children}
    </Card>
  )
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

export const ErrorText = ({ children }: { children: string }) => (
  <Text tone='bad' size={14} role='alert'>{children}</Text>
)

export function Icon ({ name, size = 22, tone = 'soft' }: { name: IconName, size?: number, tone?: 'soft' | 'accent' }) {
  return <Ionicons aria-hidden name={name} size={size} color={useTheme()[tone]} />
}

export function Avatar ({ name, image, size = 44 }: { name: string | null, image: string | null, size?: number }) {
  const theme = useTheme()
  const shape = { width: size, height: size, borderRadius: size / 2, backgroundColor: theme.field }
  if (image !== null) return <Image source={{ uri: image }} style={shape} alt='' />
  return (
    <View style={[shape, { alignItems: 'center', justifyContent: 'center' }]}>
      <Text bold tone='soft' size={size * 0.42}>{Array.from(name ?? '')[0] ?? '?'}</Text>
    </View>
  )
}

/** What a picture shows: a phone reads `alt`, react-native-web `aria-label`. */
export const altOf = (text: string) => ({ alt: text, 'aria-label': text })

export function Bar ({ share }: { share: number }) {
  const theme = useTheme()
  return (
    <View style={{ height: 8, borderRadius: 4, backgroundColor: theme.field, overflow: 'hidden' }}>
      <View
        style={{
          height: 8,
          borderRadius: 4,
          backgroundColor: theme.accent,
          width: `${Math.max(0, Math.min(1, share)) * 100}%`
        }}
      />
    </View>
  )
}

/** A row that opens another page. */
export function OpenRow (
  { icon, title, detail, href }: { icon: IconName, title: string, detail?: string, href: Href }
) {
  const router = useRouter()
  return (
    <Pressable role='link' onPress={() => router.push(href)}>
      <Row style={{ minHeight: 44 }}>
        <Icon name={icon} />
        <View style={{ flex: 1 }}>
          <Text bold>{title}</Text>
          {detail !== undefined && <Text tone='soft' size={14}>{detail}</Text>}
        </View>
        <Icon name='chevron-forward' size={18} />
      </Row>
    </Pressable>
  )
}

/** Numbers, each above its unit. */
export function Figures ({ figures }: { figures: { value: string, unit: string }[] }) {
  return (
    <Row style={{ flexWrap: 'wrap', gap: 18 }}>
      {figures.map(({ value, unit }) => (
        <View key={unit}>
          <Text bold size={20}>{value}</Text>
          <Text tone='soft' size={13}>{unit}</Text>
        </View>
      ))}
    </Row>
  )
}
