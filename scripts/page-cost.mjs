// Opens pages as browsers do, for page-cost.sh: node page-cost.mjs URL PAGES.
const [url, pages] = [process.argv[2], Number(process.argv[3])]
const views = [[], ['learning'], ['games', 'boards'], ['nets'], ['actors']]

async function page(of) {
  const response = await fetch(url + '/api/stream')
  const seen = {}
  let text = ''
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))
      text = text.slice(end + 2)
      if (!data) continue
      const versions = JSON.parse(data[1]).versions
      for (const what of of) {
        if (seen[what] === versions[what]) continue
        seen[what] = versions[what]
        await (await fetch(`${url}/api/${what}`)).arrayBuffer()
      }
    }
  }
}
await Promise.all(Array.from({ length: pages }, (_, i) => page(views[i % views.length])))
