import { keys, useTandem } from '@tandem/react'
import type { Media } from '@tandem/sdk'
import { useEffect, useRef, useState } from 'react'
import { Image, View } from 'react-native'
import { useFeature } from '../../components/api.ts'
import { useBack } from '../../components/back.ts'
import { Button, Field, Segments } from '../../components/controls.tsx'
import { useDraftHeaders } from '../../components/drafts.ts'
import { pickMedia, pickPicture, uploadMedia, type Asset } from '../../components/files.ts'
import { altOf, Bar, Card, Screen, Text } from '../../components/layout.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { VideoPlayer } from '../../components/video.tsx'

const audiences = { PUBLIC: 'Everybody', FOLLOWERS: 'Followers', PRIVATE: 'Only me' }

/** A post, or a story of a picture or a video. */
export default function NewPost () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const back = useBack()
  const hasStories = useFeature('stories')
  const hasVideo = useFeature('video')
  const [content, setContent] = useState('')
  const [visibility, setVisibility] = useState<keyof typeof audiences>('PUBLIC')
  const [asset, setAsset] = useState<Asset>()
  /** What the server has of the chosen file. */
  const [uploaded, setUploaded] = useState<Media>()
  const [progress, setProgress] = useState<number>()
  const headersOf = useDraftHeaders()
  const uploading = useRef<AbortController>(undefined)
  // Nothing is posted for somebody who left while a file was on its way: they would not see whether it arrived.
  useEffect(() => () => uploading.current?.abort(), [])
  const text = content.trim()
  const close = async (queryKey: string[]) => {
    await refresh(queryKey)
    back()
  }
  const choose = async () => {
    const chosen = await (hasVideo ? pickMedia() : pickPicture())
    if (!chosen) return
    setAsset(chosen)
    setUploaded(undefined)
  }
  const upload = async (chosen: Asset) => {
    if (uploaded) return uploaded
    uploading.current = new AbortController()
    const { signal } = uploading.current
    const media = await uploadMedia(tandem, chosen, { onProgress: setProgress, signal }).finally(() =>
      setProgress(undefined)
    )
    setUploaded(media)
    return media
  }
  const post = async () => {
    const media = asset && await upload(asset)
    const picture = media && { mediaUrls: [media.url], mediaType: media.mimeType }
    const body = { type: media?.mediaType ?? 'TEXT' as const, content: text, visibility, ...picture }
    await tandem.createPost({ body, headers: headersOf(body) })
    await close(keys.feeds)
  }
  // The story of a video takes as long as the video.
  const share = async (chosen: Asset) => {
    const { url, mediaType } = await upload(chosen)
    const body = { mediaUrl: url, mediaType, ...text !== '' && { caption: text } }
    await tandem.createStory({ body, headers: headersOf(body) })
    await close(['stories'])
  }
  return (
    <Screen>
      <Card>
        <Field label='How did it go?' value={content} onChangeText={setContent} multiline numberOfLines={4} />
        {asset && <Preview asset={asset} />}
        <Button
          title={asset ? 'Choose another' : hasVideo ? 'Add a picture or video' : 'Add a picture'}
          onPress={choose}
        />
        <Segments options={audiences} value={visibility} onChange={setVisibility} />
        {progress !== undefined && <Upload progress={progress} />}
        <Button title='Post' kind='primary' onPress={post} isDisabled={text === '' && !asset} />
        {asset && hasStories && <Button title='Share as a story' onPress={async () => await share(asset)} />}
      </Card>
    </Screen>
  )
}

function Preview ({ asset: { type, uri } }: { asset: Asset }) {
  if (type === 'video') return <VideoPlayer url={uri} label='The chosen video' aspectRatio={1.4} />
  return (
    <Image
      source={{ uri }}
      {...altOf('The chosen picture')}
      style={{ width: '100%', aspectRatio: 1.4, borderRadius: 14 }}
    />
  )
}

/** Of a video: a picture has arrived at once. */
function Upload ({ progress }: { progress: number }) {
  return (
    <View style={{ gap: 4 }}>
      <Text tone='soft' size={14}>
        {progress < 1 ? `Uploading, ${Math.round(100 * progress)} %` : 'Preparing the video …'}
      </Text>
      <Bar share={progress} />
    </View>
  )
}
