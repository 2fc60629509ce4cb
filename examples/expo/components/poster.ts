import type { ImagePickerAsset } from 'expo-image-picker'

/** A picture of a video. A phone can make one with expo-video-thumbnails; without it, there is none. */
export const drawPoster = async (_asset: ImagePickerAsset): Promise<Blob | undefined> => undefined
