import { defineConfig } from 'vite'

// The built files are part of the program and committed: the same sources give the same
// bytes. Nothing is put into the page itself, as its policy forbids that.
export default defineConfig({
  base: './',
  build: {
    outDir: 'dist',
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
