/** A secret that signs URLs of private images. */
export const mediaSigningKey = 'a-secret-for-tests-of-private-images'
