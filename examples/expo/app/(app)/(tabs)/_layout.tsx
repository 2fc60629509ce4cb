import Ionicons from '@expo/vector-icons/Ionicons'
import { useChats, useNotifications } from '@tandem/react'
import { BottomTabBar, Tabs } from 'expo-router/js-tabs'
import type { ComponentProps } from 'react'
import { useWindowDimensions, View } from 'react-native'
import { useFeature } from '../../../components/api.ts'
import { useTheme } from '../../../components/theme.ts'
import { titled } from '../../../components/titled.tsx'

const WIDE = 900

type IconName = ComponentProps<typeof Ionicons>['name']

export default function TabBar () {
  const theme = useTheme()
  const hasFitMatch = useFeature('fitmatch')
  const { data: chats } = useChats()
  const { unreadCount = 0 } = useNotifications()
  const unreadChats = chats?.conversations.reduce((sum, chat) => sum + chat.unreadCount, 0) ?? 0
  // On a wide screen, the tabs are beside the page.
  const isWide = useWindowDimensions().width >= WIDE
  const tab = (title: string, icon: IconName, badge = 0) => ({
    title,
    tabBarIcon: ({ focused, size }: { focused: boolean, size: number }) => (
      <Ionicons aria-hidden name={icon} color={focused ? theme.accent : theme.soft} size={size} />
    ),
    ...badge > 0 && { tabBarBadge: Math.min(badge, 99) }
  })
  return (
    <Tabs
      tabBar={(props) => (
        <View role='navigation' style={{ flexDirection: isWide ? 'row' : 'column' }}>
          <BottomTabBar {...props} />
        </View>
      )}
      screenLayout={titled}
      screenOptions={{
        headerShown: false,
        sceneStyle: { backgroundColor: theme.background },
        tabBarActiveTintColor: theme.accent,
        tabBarInactiveTintColor: theme.soft,
        tabBarPosition: isWide ? 'left' : 'bottom',
        tabBarActiveBackgroundColor: isWide ? theme.field : 'transparent',
        tabBarStyle: { backgroundColor: theme.card, borderColor: theme.line },
        tabBarLabelStyle: { fontFamily: 'System' },
        tabBarBadgeStyle: { fontFamily: 'System', fontSize: 11, backgroundColor: theme.bad, color: theme.card }
      }}
    >
      <Tabs.Screen name='index' options={tab('Home', 'home')} />
      <Tabs.Screen name='feed' options={tab('Feed', 'albums')} />
      <Tabs.Protected guard={hasFitMatch}>
        <Tabs.Screen name='discover' options={tab('Discover', 'flash')} />
        <Tabs.Screen name='chats' options={tab('Chats', 'chatbubbles', unreadChats)} />
      </Tabs.Protected>
      <Tabs.Screen name='inbox' options={tab('Inbox', 'notifications', unreadCount)} />
    </Tabs>
  )
}
