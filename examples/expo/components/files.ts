import { uploadOf, uploadVideo, type NativeFile, type Tandem } from '@tandem/sdk'
import * as DocumentPicker from 'expo-document-picker'
import * as ImagePicker from 'expo-image-picker'
// Without an extension, so that a browser gets poster.web.ts.
import { drawPoster } from './poster'

export type Asset = ImagePicker.ImagePickerAsset

/** Lets the person choose a picture or a video. */
export async function pickMedia (): Promise<Asset | undefined> {
  const { assets } = await ImagePicker.launchImageLibraryAsync({ mediaTypes: ['images', 'videos'], quality: 0.9 })
  return assets?.[0]
}

/** Lets the person choose a picture. */
export async function pickPicture (): Promise<Asset | undefined> {
  const { assets } = await ImagePicker.launchImageLibraryAsync({ mediaTypes: 'images', quality: 0.9 })
  return assets?.[0]
}

/** A browser without a camera asks for a file. */
export async function takeSelfie (): Promise<Asset | undefined> {
  const { granted } = await ImagePicker.requestCameraPermissionsAsync()
  if (!granted) return
  const { assets } = await ImagePicker.launchCameraAsync({ cameraType: ImagePicker.CameraType.front, quality: 0.9 })
  return assets?.[0]
}

/** Lets the person choose any file. */
export async function pickDocument (): Promise<Blob | NativeFile | undefined> {
  const { assets } = await DocumentPicker.getDocumentAsync()
  const [picked] = assets ?? []
  if (!picked) return
  return picked.file ?? { uri: picked.uri, name: picked.name, type: picked.mimeType ?? 'application/octet-stream' }
}

/** A browser has the file itself, a phone its address. */
export const fileOf = ({ file, uri, fileName, mimeType = 'image/jpeg' }: Asset): Blob | NativeFile =>
  file ?? { uri, name: fileName ?? 'upload', type: mimeType }

interface UploadOptions {
  onProgress: (share: number) => void
  signal: AbortSignal
}

/** Uploads a picture at once, and a video in parts, with its poster. */
export async function uploadMedia (tandem: Tandem, asset: Asset, { onProgress, signal }: UploadOptions) {
  if (asset.type !== 'video') return (await tandem.uploadMedia({ ...uploadOf(fileOf(asset)), signal })).data.media
  const video = asset.file ?? await (await fetch(asset.uri)).blob()
  const poster = await drawPoster(asset)
  const key = poster && (await tandem.uploadMedia({ ...uploadOf(poster), signal })).data.media.key
  return await uploadVideo(tandem, video, { onProgress, signal, ...key !== undefined && { poster: key } })
}
