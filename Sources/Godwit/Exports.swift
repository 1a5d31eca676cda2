// A program imports Godwit alone. Only what these modules declare public comes along.
@_exported import GodwitBase
@_exported import GodwitCache
@_exported import GodwitCrypto
@_exported import GodwitKeys
@_exported import GodwitModel
@_exported import GodwitCore
@_exported import GodwitDocuments
@_exported import GodwitEngine
