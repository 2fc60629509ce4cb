import { translateErrors } from '@tandem/process-kit'
import * as errors from './errors.ts'

translateErrors(errors, {
  UsernameTaken: 'Nama pengguna ini sudah dipakai',
  PersonNotFound: 'Orang ini tidak ditemukan',
  CountryNotFound: 'Negara ini tidak ditemukan',
  RegionNotFound: 'Wilayah ini tidak ditemukan',
  PlacesLoading: 'Daftar tempat masih dimuat. Coba lagi sebentar lagi.',
  OptionNotFound: 'Pilihan ini tidak ditemukan',
  OptionExists: 'Pilihan dengan id ini sudah ada'
})
