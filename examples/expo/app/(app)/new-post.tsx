import { keys, useTandem } from '@tandem/react'
import { uploadOf } from '@tandem/sdk'
import { useQueryClient } from '@tanstack/react-query'
import * as ImagePicker from 'expo-image-picker'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { Image } from 'react-native'
import { Button, Card, Field, Screen, Segments } from '../../components/ui.tsx'

const audiences = { PUBLIC: 'Everybody', FOLLOWERS: 'Followers', PRIVATE: 'Only me' }

export default function NewPost () {
  const tandem = useTandem()
  const client = useQueryClient()
  const router = useRouter()
  const [content, setContent] = useState('')
  const [visibility, setVisibility] = useState<keyof typeof audiences>('PUBLIC')
  const [file, setFile] = useState<ImagePicker.ImagePickerAsset>()
  const choose = async () => {
    const { assets } = await ImagePicker.launchImageLibraryAsync({ mediaTypes: ['images', 'videos'], quality: 0.9 })
    setFile(assets?.[0])
  }
  const post = async () => {
    const media = file && (await tandem.uploadMedia(uploadOf(fileOf(file)))).data.media
    await tandem.createPost({
      body: {
        type: media?.mediaType ?? 'TEXT',
        content: content.trim(),
        visibility,
        ...media && { mediaUrls: [media.url] }
      }
    })
    await client.invalidateQueries({ queryKey: keys.feeds })
    router.back()
  }
  return (
    <Screen>
      <Card>
        <Field label='What happened?' value={content} onChangeText={setContent} multiline numberOfLines={4} />
        {file && (
          <Image
            source={{ uri: file.uri }}
            alt='The chosen picture'
            style={{ width: '100%', aspectRatio: 1.4, borderRadius: 14 }}
          />
        )}
        <Button title={file ? 'Choose another' : 'Add a picture or video'} onPress={choose} />
        <Segments options={audiences} value={visibility} onChange={setVisibility} />
        <Button title='Post' kind='primary' onPress={post} isDisabled={content.trim() === '' && !file} />
      </Card>
    </Screen>
  )
}

/** A browser has the file itself, a phone its address. */
const fileOf = ({ file, uri, fileName, mimeType = 'image/jpeg' }: ImagePicker.ImagePickerAsset) =>
  file ?? { uri, name: fileName ?? 'upload', type: mimeType }
