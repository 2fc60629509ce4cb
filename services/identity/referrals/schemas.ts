import Type from 'typebox'

/** Of any length: a wrong code must not prevent a registration. */
export const ReferralCode = Type.String({ transform: ['trim', 'toUpperCase'], examples: ['K7RMX2PA'] })
