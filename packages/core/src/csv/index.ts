export { fromCell, toRecord } from './csv-cell.ts';
export { type CsvFault, CsvReader, type CsvRecord, csvBounds } from './csv-reader.ts';
