/** This phone has no other native modules. */
export const get = () => null
export const getEnforcing = () => null
